import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { LONGEST_LIFE_MS } from "../../../support/child-process";
import { registrarCommand } from "../../../support/registrar-command";
import { createTempFolder } from "../../../support/temp-folder";

/** More than a pipe holds: who has got rid of it knows that it is read. */
const LONG_COMMENT = `${"#".repeat(2 ** 20)}\n`;
const DAEMON_SET = `
kind: DaemonSet
metadata: { name: x }
spec: { selector: {}, template: { spec: { containers: [{ name: registrar, image: registrar, args: [--kubelet-registration-path=] }] } } }
`;

/** The doctor as a process: it reads stdin or a pipe. */
function startDoctor(file: string): ChildProcessWithoutNullStreams {
  const [program, ...before] = registrarCommand();
  return spawn(program, [...before, "doctor", "-f", file], {
    timeout: LONGEST_LIFE_MS,
    killSignal: "SIGKILL",
  });
}

async function readingStdin(
  use: (doctor: ChildProcessWithoutNullStreams) => Promise<void>,
  first = LONG_COMMENT,
): Promise<void> {
  const doctor = startDoctor("-");
  try {
    await new Promise((resolve) => doctor.stdin.write(first, resolve));
    await use(doctor);
  } finally {
    doctor.kill("SIGKILL");
  }
}

test.each(["SIGINT", "SIGTERM"] as const)("%s ends a doctor that waits for stdin", (signal) =>
  readingStdin(async (doctor) => {
    doctor.kill(signal);
    expect(await once(doctor, "exit")).toEqual([null, signal]);
  }),
);

test("a signal ends a doctor that is busy with what it read", () =>
  readingStdin(async (doctor) => {
    // Some seconds of work in one piece, without end where the signal has to wait for it.
    const keys = Array.from({ length: 150_000 }, (_, n) => `k${n}: v`).join("\n");
    doctor.stdin.end(`---\n${keys}\n`.repeat(5));
    await once(doctor.stdin, "finish");
    doctor.kill("SIGTERM");
    expect(await once(doctor, "exit")).toEqual([null, "SIGTERM"]);
  }));

test("what comes on stdin in parts is judged when it ends", () =>
  readingStdin(async (doctor) => {
    let output = "";
    doctor.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    doctor.stdin.end(DAEMON_SET);
    expect(await once(doctor, "close")).toEqual([1, null]);
    expect(output).toMatch(/^stdin: DaemonSet x, container registrar\n {2}PROBLEM {2}CSI101 +manifest/m);
  }));

test("a named pipe without a writer: stderr says what the doctor waits for", async () => {
  await using folder = await createTempFolder();
  execFileSync("mkfifo", [folder.at("pipe.yaml")]);
  const doctor = startDoctor(folder.at("pipe.yaml"));
  const [said] = await once(doctor.stderr, "data");
  expect(String(said)).toBe(
    `registrar doctor: reading the pipe ${folder.at("pipe.yaml")} until the program that writes to it closes it\n`,
  );
  writeFileSync(folder.at("pipe.yaml"), DAEMON_SET);
  expect(await once(doctor, "close")).toEqual([1, null]);
});

test("an empty stdin is said", () =>
  readingStdin(async (doctor) => {
    let errors = "";
    doctor.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    doctor.stdin.end();
    expect(await once(doctor, "close")).toEqual([3, null]);
    expect(errors).toBe("registrar doctor: cannot read stdin: empty input\n");
  }, "\n"));
