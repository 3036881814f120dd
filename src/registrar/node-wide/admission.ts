import type { Logger } from "../../logging/logger";
import type { DriverTrouble } from "../model/status";
import { type ParsedNames, whyUnwanted } from "./name-lists";

/** Decides which of a node's drivers may be registered under its name: one living driver for each name. */
export function createAdmission(lists: ParsedNames = {}) {
  /** In their order: of those for one name, the first has it. */
  let requests: { readonly name: string; readonly csiAddress: string; readonly grant: () => void }[] = [];

  return {
    /** Resolves when the driver there has the name, unless the lists exclude it. Gives up its former request or name. */
    request: (
      name: string,
      csiAddress: string,
      log: Logger,
      onWithheld: (why: DriverTrouble) => void,
    ): Promise<void> => {
      release(csiAddress);
      const because = whyUnwanted(name, csiAddress, lists);
      if (because !== undefined) {
        log.info("CSI driver is excluded by the name lists", { csiDriverName: name, because });
        onWithheld({ kind: "not-wanted", text: `the name lists exclude ${name}` });
        return new Promise(() => {});
      }
      const holder = requests.find((request) => request.name === name);
      if (holder) {
        const fields = { csiDriverName: name, other: holder.csiAddress };
        log.error(undefined, "Another CSI driver on this node has the name, waiting", fields);
        onWithheld({ kind: "name-withheld", text: `another driver on this node has the name ${name}` });
      }
      return new Promise((resolve) => {
        requests = [...requests, { name, csiAddress, grant: resolve }];
        if (!holder) resolve();
      });
    },
    release,
  };

  function release(csiAddress: string): void {
    const former = requests.find((request) => request.csiAddress === csiAddress); // There is one at most: see `request`.
    requests = requests.filter((request) => request !== former);
    requests.find((request) => request.name === former?.name)?.grant();
  }
}
