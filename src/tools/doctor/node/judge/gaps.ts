import { grouped, unknown, unread, type Verdict } from "../../findings/finding";
import type { Why } from "../../findings/seen";
import type { NodePart } from "../read/facts";
import type { Facts } from "../read/gather";
import { remedyForErrno } from "./sockets";

/** What follows the subject of a gap of each part. */
const LACKS: Readonly<Record<NodePart, string>> = {
  directory: "cannot be read",
  sockets: "cannot be inspected, so drivers there are not seen",
  processes: "cannot be inspected",
};

/** The finding of each gap of a part. One check of the part says them; what depends on them is withheld. */
export function sayGaps(facts: Pick<Facts, "gaps" | "host">, part: NodePart): readonly Verdict[] {
  const own = facts.gaps.filter((gap) => gap.part === part);
  return [...grouped(own, ({ subject }) => subject).values()].map(([{ subject, why }]) =>
    sayGap(subject, LACKS[part], why, facts),
  );
}

function sayGap(subject: string, lacks: string, why: Why, facts: Pick<Facts, "host">): Verdict {
  const text = whyText(why);
  switch (why.kind) {
    case "errno":
      return unread(subject, `${lacks}: ${text}`, remedyForErrno(why.errno, facts));
    case "mount":
      return unknown(subject, text, "put the driver's socket on the node's own disk");
    case "cut":
      return unread(subject, text, "remove what is left of drivers that were uninstalled");
    default:
      return unread(subject, `${lacks}: ${text}`, "report this fault of the program, with its version");
  }
}

export function whyText(why: Why): string {
  switch (why.kind) {
    case "errno":
      return why.errno;
    case "mount":
      return `is a mount of ${why.fileSystem} and was not inspected: its server might hang`;
    case "cut":
      return `has ${why.there.toLocaleString("en")} sockets, of which ${why.read} were inspected`;
    case "fault":
      return why.error;
    default:
      return why.kind;
  }
}
