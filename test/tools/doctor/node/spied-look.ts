import { AsyncLocalStorage } from "node:async_hooks";
import fs from "node:fs";
import net from "node:net";
import { Client, type Metadata } from "@grpc/grpc-js";

/** A file call or a connection, and its path. */
export type Read = readonly [call: string, path: string];
export type Answer = (real: () => unknown, call: string) => unknown;
type Calls = Record<string, (...words: readonly unknown[]) => unknown>;

/** What the doctor calls, and nothing that the parts of the node call, which run in this process too. */
export const looking = new AsyncLocalStorage<(read: Read) => Answer | undefined>();

/** Whatever reads a file, or connects: one that a reader calls tomorrow, too. */
export function spyOnAll() {
  const sync = Object.keys(fs).filter((name) => name.endsWith("Sync"));
  const others = [...Object.keys(fs.promises), "connect", ...sync];
  for (const call of others) {
    const owner = (call === "connect" ? net : call.endsWith("Sync") ? fs : fs.promises) as unknown as Calls;
    const real = owner[call];
    if (typeof real !== "function") continue;
    jest.spyOn(owner, call).mockImplementation((...words: readonly unknown[]) => {
      const act = () => Reflect.apply(real, owner, words);
      const path = (words[0] as { readonly path?: unknown } | undefined)?.path ?? words[0];
      return looking.getStore()?.([call, String(path)])?.(act, call) ?? act();
    });
  }
}

/** The answer to a call, and the file calls and connections that it took. */
interface Reply {
  readonly reads: Set<string>;
  readonly headers: Metadata[];
  readonly answer: readonly unknown[];
}

/** Calls of a look in which only the read `failed()` fails are answered as in the whole one, unless they took this read. */
export function rememberReplies(failed: () => string | undefined) {
  const replies = new Map<string, Reply>();
  const real = Client.prototype.makeUnaryRequest as (...words: readonly unknown[]) => ReturnType<Ask>;
  type Ask = typeof Client.prototype.makeUnaryRequest;
  const ask = function (this: Client, ...words: readonly unknown[]) {
    const answerOf = looking.getStore();
    if (answerOf === undefined) return Reflect.apply(real, this, words);
    const callback = words.at(-1) as (...answer: readonly unknown[]) => void;
    const key = `${this.getChannel().getTarget()} ${words[0]}`;
    const known = replies.get(key);
    if (known && !known.reads.has(failed() ?? "")) {
      setImmediate(() => callback(...known.answer));
      return { cancel: () => {}, on: (_: string, on: (headers: Metadata) => void) => known.headers.map(on) };
    }
    const [reads, headers] = [new Set<string>(), [] as Metadata[]];
    const answered = (...answer: readonly unknown[]) => {
      if (failed() === undefined) replies.set(key, { reads, headers, answer });
      callback(...answer);
    };
    const note = (read: Read) => {
      reads.add(read.join(" "));
      return answerOf(read);
    };
    const call = looking.run(note, () => Reflect.apply(real, this, [...words.slice(0, -1), answered]));
    return call.on("metadata", (one: Metadata) => headers.push(one));
  };
  jest.spyOn(Client.prototype, "makeUnaryRequest").mockImplementation(ask as never);
  return replies;
}
