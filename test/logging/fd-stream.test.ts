import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFdStream } from "../../src/logging/fd-stream";

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants;
let folder: string;
const descriptors: number[] = [];

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "fd-stream-"));
});

afterEach(() => {
  jest.restoreAllMocks();
  for (const fd of descriptors.splice(0)) fs.closeSync(fd);
  fs.rmSync(folder, { recursive: true });
});

function open(path: string, flags: number | string): number {
  const fd = fs.openSync(path, flags);
  descriptors.push(fd);
  return fd;
}

/** Both ends of a pipe that never blocks. */
function openPipe() {
  const path = join(folder, "pipe");
  execFileSync("mkfifo", [path]);
  return { reader: open(path, O_RDONLY | O_NONBLOCK), writer: open(path, O_WRONLY | O_NONBLOCK) };
}

function read(fd: number): string {
  const buffer = Buffer.alloc(1 << 20);
  return buffer.toString("utf8", 0, fs.readSync(fd, buffer));
}

test("a line is in the file when write returns", () => {
  const path = join(folder, "log");
  const stream = createFdStream(open(path, "a"));
  stream.write("one é\n");
  expect(fs.readFileSync(path, "utf8")).toBe("one é\n");
  stream.write("two\n");
  expect(fs.readFileSync(path, "utf8")).toBe("one é\ntwo\n");
});

test("a full pipe costs the line, not the process, and the next line is written again", () => {
  const { reader, writer } = openPipe();
  const filler = Buffer.alloc(1 << 20, "x");
  expect(() => {
    for (;;) fs.writeSync(writer, filler);
  }).toThrow(expect.objectContaining({ code: "EAGAIN" }));
  const stream = createFdStream(writer);
  stream.write("lost\n");
  expect(read(reader)).toMatch(/^x+$/);
  stream.write("found\n");
  expect(read(reader)).toBe("found\n");
});

test("a slow reader gets the whole line, in as many pieces as it takes", () => {
  const path = join(folder, "log");
  const fd = open(path, "a");
  const text = "0123456789".repeat(10);
  const { writeSync } = fs;
  let calls = 0;
  const slowWrite = (target: number, bytes: Buffer) => {
    calls += 1;
    if (calls % 2 === 1) throw Object.assign(new Error("full"), { code: "EAGAIN" });
    return writeSync(target, bytes, 0, 4);
  };
  jest.spyOn(fs, "writeSync").mockImplementation(slowWrite as typeof writeSync);
  createFdStream(fd).write(text);
  expect(fs.readFileSync(path, "utf8")).toBe(text);
});

test("the line behind one that was torn begins on a line of its own", () => {
  const path = join(folder, "log");
  const fd = open(path, "a");
  const { writeSync } = fs;
  const answers: (number | "ENOSPC")[] = [4, "ENOSPC", "ENOSPC", 100];
  const fullDisk = (target: number, bytes: Buffer) => {
    const answer = answers.shift() ?? 100;
    if (answer === "ENOSPC") throw Object.assign(new Error("full"), { code: answer });
    return writeSync(target, bytes, 0, Math.min(answer, bytes.length));
  };
  jest.spyOn(fs, "writeSync").mockImplementation(fullDisk as typeof writeSync);
  const stream = createFdStream(fd);
  stream.write("torn line\n");
  stream.write("lost line\n");
  stream.write("third\n");
  stream.write("fourth\n");
  expect(fs.readFileSync(path, "utf8")).toBe("torn\nthird\nfourth\n");
});

test("a reader that went away is no error", () => {
  const { reader, writer } = openPipe();
  fs.closeSync(reader);
  descriptors.splice(descriptors.indexOf(reader), 1);
  expect(() => fs.writeSync(writer, "x")).toThrow(expect.objectContaining({ code: "EPIPE" }));
  expect(createFdStream(writer).write("x\n")).toBeUndefined();
  expect(createFdStream(1_000_000).write("a descriptor that is closed\n")).toBeUndefined();
});
