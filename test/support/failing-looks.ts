import fs from "node:fs";
import { systemError } from "../../src/base/errors";

/** Fails each `lstat` (or another call) of a path with this errno until it is disposed of. */
export function failLooks(path: string, code: string, call: "lstat" | "readFile" | "stat" = "lstat") {
  const real = fs.promises[call] as (...given: unknown[]) => Promise<unknown>;
  let failed = 0;
  const spy = jest.spyOn(fs.promises, call).mockImplementation((async (...given: unknown[]) => {
    if (given[0] !== path) return real(...given);
    failed += 1;
    throw systemError(code);
  }) as never);
  return { failed: () => failed, [Symbol.dispose]: () => spy.mockRestore() };
}
