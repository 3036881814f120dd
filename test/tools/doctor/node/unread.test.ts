import fs from "node:fs";
import { createDoctorNode, type DoctorNode, WHOLE } from "./doctor-node";

// Taking information away may turn a verdict into "unknown", and nothing else: each read of a look fails in turn.

afterEach(() => jest.restoreAllMocks());

type Read = readonly [call: "stat" | "readdir" | "realpath" | "readFile" | "readFileSync", path: string];

const READS = ["stat", "readdir", "realpath", "readFile"] as const;

/** Calls of a look go through `onRead`, which throws where the call is to fail, or gives what it answers. */
function spy(onRead: (read: Read) => unknown) {
  for (const call of READS) {
    const real = fs.promises[call] as (...words: readonly unknown[]) => Promise<unknown>;
    jest
      .spyOn(fs.promises, call)
      .mockImplementation(
        (async (path: string, ...more: readonly unknown[]) =>
          onRead([call, String(path)]) ?? real(path, ...more)) as never,
      );
  }
  const real = fs.readFileSync;
  jest
    .spyOn(fs, "readFileSync")
    .mockImplementation(
      ((path: string, options: "utf8") =>
        onRead(["readFileSync", String(path)]) ?? real(path, options)) as never,
    );
}

const failing = (code: string) => () => {
  throw Object.assign(new Error(code), { code });
};
/** How a read is taken away; of a directory's list or a text only the first half. */
const WAYS: Readonly<Record<string, () => unknown>> = {
  EACCES: failing("EACCES"),
  EIO: failing("EIO"),
  ETIMEDOUT: failing("ETIMEDOUT"),
};

const badIn = ({ findings }: Awaited<ReturnType<DoctorNode["look"]>>) =>
  findings
    .filter(({ status }) => status === "problem" || status === "warning")
    .map(({ code, subject }) => `${code} ${subject}`);

async function worlds() {
  const [healthy, sick] = [await createDoctorNode(), await createDoctorNode()];
  const csiAddress = await healthy.driverUnder("x.csi");
  const kubelet = await healthy.kubelet();
  await healthy.registrar({ csiAddress, endpoint: csiAddress });
  await kubelet.registered("x.csi");
  await sick.driverUnder("x.csi");
  await (
    await sick.driver({ csiAddress: await sick.driverUnder("y.csi"), name: "z.csi" }).catch(() => undefined)
  )?.close();
  await sick.plugin("lost-reg.sock", { name: "lost.csi", endpoint: sick.at("nowhere.sock") });
  return { healthy, sick };
}

test("each read that fails takes findings away, and adds none", async () => {
  const { healthy, sick } = await worlds();
  await using _nodes = {
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all([healthy, sick].map((one) => one[Symbol.asyncDispose]()))),
  };
  for (const node of [healthy, sick]) {
    const reads = new Map<string, Read>();
    spy((read) => void (read[1].startsWith(node.path) && reads.set(read.join(" "), read)));
    const whole = await node.look(WHOLE);
    jest.restoreAllMocks();
    expect(reads.size).toBeGreaterThan(5);
    for (const [call, path] of reads.values())
      for (const [way, fail] of Object.entries(WAYS)) {
        spy((read) => (read[0] === call && read[1] === path ? fail() : undefined));
        const look = await node.look(WHOLE);
        jest.restoreAllMocks();
        const added = badIn(look).filter((one) => !badIn(whole).includes(one));
        expect([way, call, path, added]).toEqual([way, call, path, []]);
        const states = ({ drivers }: typeof look) =>
          drivers.map(({ name, state }) => `${name} ${state}`).sort();
        // What is not seen any more is not said to be well.
        if (states(look).join() !== states(whole).join())
          expect([way, call, path, look.healthy]).toEqual([way, call, path, false]);
      }
  }
});
