import { check, type Verdict, warning } from "../../findings/finding";
import type { FileFacts } from "../read/registrars";
import { manifestArguments } from "./arguments";
import { manifestReadable } from "./gaps";
import { limitChecks } from "./limits";
import { pathChecks } from "./paths";
import { manifestOperatingSystem, podChecks } from "./pod";
import { manifestProbes } from "./probes";

export const MANIFEST_CHECKS = [manifestArguments, manifestProbes, manifestReadable].concat(
  pathChecks,
  limitChecks,
  podChecks,
);

/** Where nothing was judged, no problem was found either. */
const windowsUnjudged = check<FileFacts>(
  manifestOperatingSystem.code,
  manifestOperatingSystem.name,
  ({ registrars }) => {
    const isAll = registrars.contains(({ isForWindows }) => isForWindows.not()).ifNo(() => true) === true;
    return [
      ...registrars.each<Verdict>(({ program, isForWindows, place, about }) =>
        program.kind === "ours"
          ? undefined
          : isForWindows.ifYes(() => ({
              ...{ status: isAll ? "unknown" : "skipped", subject: place, about },
              text: "is for Windows nodes, which doctor does not judge",
              fix: "see the log of the registrar there, and its own documentation for Windows",
            })),
      ),
    ];
  },
);

export const manifestOverwritten = check<FileFacts>("CSI116", "manifest-overwritten", ({ identities }) => [
  ...identities
    .filter(({ isNamed }) => isNamed)
    .grouped(({ file, key }) => `${file} ${key}`)
    .each(([first, ...others]) =>
      others.length > 0 && [first, ...others].some(({ hasRegistrar }) => hasRegistrar)
        ? warning(
            first.place,
            `is there ${others.length + 1} times: the last one overwrites the others when the file is applied`,
            "remove the others, or give each a name of its own",
          )
        : undefined,
    ),
]);

/** Of files alone: a cluster has each object once. */
export const STREAM_CHECKS = [windowsUnjudged, manifestOverwritten];
