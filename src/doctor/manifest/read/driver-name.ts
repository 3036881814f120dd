import { list, type Tree, text, tree } from "../../../kube-api/objects";
import { isTemplate } from "../../rules/words";
import { environmentOf, wordsOf } from "./start";

/** `--drivername=x`, `--driver-name x`, `--csi-name=x`; it may also stand in a shell's command line. */
const FLAG = /(?:^|\s)--?(?:(?:csi-?)?driver-?name|csi-name)(?:=|\s+)["']?([^\s"']+)/gi;
const VARIABLE = /^(?:\w+_)?DRIVER_?NAME$/;
/** A driver's name by the CSI specification; one without a dot is rather a word of something else. */
const NAME = /^(?=.{1,63}$)[a-z0-9][-a-z0-9]*(?:\.[-a-z0-9]+)+$/i;

/** The longest name of a driver (the CSI specification). */
export const MAX_NAME_LENGTH = 63;

/** The folder of a driver's socket: many drivers have their name there, others a word of their own. */
export function driverFolderIn(kubeletRegistrationPath: string): string | undefined {
  const folder = kubeletRegistrationPath.split(/[\\/]+/).at(-2);
  return folder && folder.length <= MAX_NAME_LENGTH && !isTemplate(folder) ? folder : undefined;
}

/** What these containers call their driver; nothing if they have several names for it. */
export function driverNameIn(containers: readonly Tree[]): readonly [] | readonly [string] {
  const names = containers.flatMap((container) => {
    const fill = environmentOf(container);
    const flags = Array.from(wordsOf(container).join(" ").matchAll(FLAG), ([, value = ""]) => value);
    const variables = list(container.env)
      .map(tree)
      .filter(({ name }) => VARIABLE.test(text(name)))
      .map(({ value }) => fill(text(value)).text);
    return [...flags, ...variables].filter((name) => NAME.test(name));
  });
  const [name, ...others] = new Set(names);
  return name === undefined || others.length > 0 ? [] : [name];
}
