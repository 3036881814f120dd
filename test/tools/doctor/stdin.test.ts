import { spawn } from "node:child_process";
import { once } from "node:events";
import { LONGEST_LIFE_MS } from "../../support/child-process";
import { registrarCommand } from "../../support/registrar-command";

/** More than a pipe holds: who has got rid of it knows that it is read. */
const LONG_COMMENT = `${"#".repeat(2 ** 20)}\n`;
const DAEMON_SET = `
kind: DaemonSet
metadata: { name: x }
spec: { selector: {}, template: { spec: { containers: [{ name: registrar, image: registrar, args: [--kubelet-registration-path=] }] } } }
`;

/** A doctor that has read the first part of its stdin. Its disposal kills it. */
async function startDoctor(first: string, ...more: readonly string[]) {
  const [program, ...before] = registrarCommand();
  const limit = { timeout: LONGEST_LIFE_MS, killSignal: "SIGKILL" } as const;
  const doctor = spawn(program, [...before, "doctor", "-f", "-", ...more], limit);
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    doctor[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
    });
  await new Promise((resolve) => doctor.stdin.write(first, resolve));
  return Object.assign(doctor, { said });
}

test.each(["SIGINT", "SIGTERM"] as const)("%s ends a doctor that waits for stdin", async (signal) => {
  using doctor = await startDoctor(LONG_COMMENT);
  doctor.kill(signal);
  expect(await once(doctor, "exit")).toEqual([null, signal]);
});

test("a signal ends a doctor that is busy with what it read", async () => {
  using doctor = await startDoctor(LONG_COMMENT);
  // Some seconds of work in one piece, without end where the signal has to wait for it.
  const keys = Array.from({ length: 150_000 }, (_, n) => `k${n}: v`).join("\n");
  doctor.stdin.end(`---\n${keys}\n`.repeat(5));
  await once(doctor.stdin, "finish");
  doctor.kill("SIGTERM");
  expect(await once(doctor, "exit")).toEqual([null, "SIGTERM"]);
});

test("stdin that arrives in parts is judged at its end", async () => {
  using doctor = await startDoctor(LONG_COMMENT);
  doctor.stdin.end(DAEMON_SET);
  expect(await once(doctor, "close")).toEqual([1, null]);
  expect(doctor.said.stdout).toMatch(/^PROBLEM CSI101 stdin: DaemonSet x, container registrar$/m);
});

test("a swap of what came on stdin offers no command that would read it again", async () => {
  using doctor = await startDoctor("", "--swap");
  doctor.stdin.end(DAEMON_SET.replace("image: registrar", "image: csi-node-driver-registrar"));
  expect(await once(doctor, "close")).toEqual([0, null]);
  expect(doctor.said.stdout).toMatch(
    /^2 problems are .* either image: doctor without --swap prints them\.$/m,
  );
});

test.each(["\n", "---\n# Source: none\n", "null\n"])(
  "stdin without an object, %j, is reported",
  async (text) => {
    using doctor = await startDoctor(text);
    doctor.stdin.end();
    expect(await once(doctor, "close")).toEqual([3, null]);
    expect(doctor.said.stderr).toBe(
      "registrar doctor: cannot read stdin: it has no object; see what the program that writes it says, or leave it out\n",
    );
  },
);
