import { execFile } from "node:child_process";
import type { EventEmitter } from "node:events";
import { promisify } from "node:util";
import { unaryHandler } from "../../src/grpc/handlers";
import { bug, type Callback, FAILED, type Handler, raise, serveHandlers } from "./served-handlers";

const COMMAND = ["sh", ["-c", "exit 5"]] as const;
const EXITED = expect.stringContaining("Command failed: sh -c exit 5");
const run = () => promisify(execFile)(...COMMAND);
const coded = Object.assign(new Error("gone"), { code: 9 });
const es5 = Object.assign(Object.create(Error.prototype), { code: 9, message: "gone" });
const plain = { code: 9, details: "gone" };
const emit =
  (...given: unknown[]): Handler =>
  (call, _answer) =>
    (call as EventEmitter).emit("error", ...given);
const dom = () => raise(new DOMException("no disk", "NotFoundError"));

test.each<[string, Handler, unknown, readonly string[]]>([
  ["returns a command that fails", (_call) => run(), [13, EXITED], [FAILED]],
  ["awaits a command that fails", unaryHandler(run) as Handler, [13, EXITED], [FAILED]],
  [
    "calls back as a command does",
    (_, answer) => execFile(...COMMAND, (e) => answer(e)),
    [2, EXITED],
    [FAILED],
  ],
  ["throws a DOMException", unaryHandler(dom) as Handler, [13, "no disk"], [FAILED]],
  ["returns an error of ES5 with a code", async () => es5, [9, "gone"], [FAILED]],
  ["emits an error", emit(bug()), [2, bug().message], [FAILED]],
  ["emits an error with a code", emit(coded), [9, "gone"], []],
  ["emits a status", emit(plain), [9, "gone"], []],
  ["emits no error", emit(), [13, "undefined"], [FAILED]],
])(
  "a handler's error is the status of its call, or a line in the log: it %s",
  async (_what, ask, ...expected) => {
    await using served = await serveHandlers({ ask });
    expect([await served.call().answered, served.problems()]).toEqual(expected);
  },
);

test.each<[string, unknown, object]>([
  ["the error", bug(), { message: bug().message }],
  ["where it was given", null, { stack: expect.stringMatching(/at again .*handler-errors\.test/) }],
])("the log has of a second answer %s", async (_what, second, error) => {
  const again = (answer: Callback) => answer(second);
  await using served = await serveHandlers({
    ask: (_call, answer) => [answer(null, { a: 1 }), again(answer)],
  });
  expect(await served.call().answered).toEqual([0, { a: 1 }]);
  const line = await served.log.when("A handler answered twice, the first answer counts");
  expect(line.error).toMatchObject(error);
});
