import type { Logger } from "../../logging/logger";
import { type NameLists, whyUnwanted } from "./name-lists";

/** Decides which of a node's drivers may be registered under their names: one living driver for each name. */
export interface Admission {
  /**
   * Resolves when `owner` has the name; never, as long as another has it or the name is not wanted. Asked again by
   * the same owner, a former name or request of its is given up.
   */
  request(name: string, owner: NameOwner, log: Logger): Promise<void>;
  /** Gives up what `owner` has or waits for; the next in line gets it. */
  release(owner: NameOwner): void;
}

/** Who asks for a name; the same object each time. */
export interface NameOwner {
  readonly csiAddress: string;
}

interface Request {
  readonly name: string;
  readonly owner: NameOwner;
  readonly grant: () => void;
}

/** Makes an admission in which no name is taken yet. */
export function createAdmission(lists: NameLists = {}): Admission {
  /** In the order of asking: for each name the first has it. */
  let requests: readonly Request[] = [];

  const release = (owner: NameOwner) => {
    const given = requests.find((request) => request.owner === owner); // Each has one: it gives that up to ask again.
    requests = requests.filter((request) => request !== given);
    requests.find((request) => request.name === given?.name)?.grant();
  };

  return {
    release,
    request: (name, owner, log) => {
      release(owner);
      const because = whyUnwanted(name, owner.csiAddress, lists);
      if (because !== undefined) {
        log.info("CSI driver is not to be registered by this registrar", { csiDriverName: name, because });
        return new Promise(() => {});
      }
      const holder = requests.find((request) => request.name === name)?.owner;
      if (holder)
        log.error(undefined, "Another CSI driver on this node has the name, waiting", {
          csiDriverName: name,
          other: holder.csiAddress,
        });
      return new Promise((resolve) => {
        requests = [...requests, { name, owner, grant: resolve }];
        if (!holder) resolve();
      });
    },
  };
}
