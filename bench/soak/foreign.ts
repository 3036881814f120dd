import { lstatSync } from "node:fs";
import { join } from "node:path";
import { type ForeignSocket, leaveDeadSocket, startForeignSocket } from "../../test/support/foreign-socket";

/** Sockets of others in the plugin registration directory: one that lives and says nothing, and a dead one. */
export interface ForeignSockets extends AsyncDisposable {
  /** Puts them there. Once more, when the directory has been made anew. */
  place(): Promise<void>;
  /** The names of those that are not as they were placed. */
  touched(): readonly string[];
  has(name: string): boolean;
}

const LIVING = "living.example.com-reg.sock";
const DEAD = "dead.example.com-reg.sock";

export function createForeignSockets(folder: string): ForeignSockets {
  const inodes = new Map<string, number | undefined>();
  let living: ForeignSocket | undefined;
  const inode = (name: string) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.ino;
  return {
    place: async () => {
      await living?.kill();
      living = await startForeignSocket(join(folder, LIVING));
      await leaveDeadSocket(join(folder, DEAD));
      for (const name of [LIVING, DEAD]) inodes.set(name, inode(name));
    },
    touched: () => [...inodes].filter(([name, ino]) => inode(name) !== ino).map(([name]) => name),
    has: (name) => name === LIVING || name === DEAD,
    [Symbol.asyncDispose]: async () => await living?.kill(),
  };
}
