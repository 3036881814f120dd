import { reasonText } from "./driver-reason";
import type { DriverFacts, Facts, RegistrationFacts } from "./facts";
import { isRegistered } from "./unpublished";
import { nameTold } from "./whose";

/** One driver of the node, wherever it was found. Null is what nobody told. */
export interface DriverRow {
  /** Null where it does not tell its name. */
  readonly name: string | null;
  /**
   * The state that its registrar tells; `untold` where the registrar tells none, as the official one; `unpublished`
   * where it has no registration socket on which somebody answers.
   */
  readonly state: string;
  /** When it came to that state, as RFC 3339. */
  readonly since: string | null;
  readonly reason: string | null;
  /** The driver's socket, as kubelet is told or as it was found. */
  readonly csiSocket: string | null;
  readonly registrationSocket: string | null;
}

/** One row for each driver found anywhere: in the registration directory, under kubelet's plugins, or by its flag. */
export function driversIn(facts: Facts): readonly DriverRow[] {
  const published = facts.registrations.flatMap(publishedRow);
  const drivers = [...(facts.driver === undefined ? [] : [facts.driver]), ...facts.found];
  const unpublished = drivers.filter((driver) => isOne(driver) && !isRegistered(driver, facts));
  return [...published, ...unpublished.map(unpublishedRow)];
}

function publishedRow({ socket, info, report }: RegistrationFacts): readonly DriverRow[] {
  if (info.kind !== "answered" || info.value.type !== "CSIPlugin") return [];
  const { name, endpoint } = info.value;
  return [
    {
      name,
      state: report?.state ?? "untold",
      since: report?.since === undefined ? null : new Date(report.since).toISOString(),
      reason: report?.reason ?? null,
      csiSocket: endpoint === "" ? socket.path : endpoint,
      registrationSocket: socket.path,
    },
  ];
}

function unpublishedRow(driver: DriverFacts): DriverRow {
  return {
    name: nameTold(driver) ?? null,
    state: "unpublished",
    since: null,
    reason: reasonText(driver),
    csiSocket: driver.socket.path,
    registrationSocket: null,
  };
}

/** Not every socket under kubelet's plugins is a CSI driver's with a node service. */
function isOne({ identity, nodeInfo }: DriverFacts): boolean {
  const isNone = [identity, nodeInfo].some(({ kind, ...answer }) => {
    return kind === "failed" && "code" in answer && answer.code === "Unimplemented";
  });
  return !isNone;
}
