import { also, check, type Status, skipped, unknown, type Verdict, warning } from "../../findings/finding";
import {
  type Gap,
  type ItemOf,
  ifUnknown,
  ifYes,
  nothing,
  otherwise,
  type Truth,
  words,
} from "../../findings/seen";
import { LEAVE_ONE, RENDER_FIRST, WRITE_NAMESPACE } from "../../findings/words";
import { isOneObject } from "../read/identity";
import { onHosts } from "../read/pod";
import { AFFINITY, areApart } from "../read/pool";
import type { FileFacts, RegistrarContainer } from "../read/registrars";
import { isRegistering } from "../read/settings";
import { manifestArguments } from "./arguments";
import { manifestReadable, placeholderIn } from "./gaps";
import { limitChecks } from "./limits";
import { pathChecks } from "./paths";
import { manifestOperatingSystem, podChecks } from "./pod";
import { manifestProbes } from "./probes";

/** Of registrars in files, or in a cluster. */
export const REGISTRAR_CHECKS = [manifestArguments, manifestProbes].concat(
  pathChecks,
  limitChecks,
  podChecks,
);
export const MANIFEST_CHECKS = [manifestReadable, ...REGISTRAR_CHECKS];

const SEE_WINDOWS = "see the log of the registrar there, and its own documentation for Windows";

/** Where nothing was judged, no problem was found either. */
const windowsUnjudged = check<FileFacts>(
  manifestOperatingSystem.code,
  manifestOperatingSystem.name,
  ({ registrars }) => {
    const hasOther = registrars.contains(({ isForWindows }) => isForWindows.not());
    return registrars.flatMap(({ program, unknown: others, isForWindows, place, about }) => {
      const say = <S extends Status>(by: (...said: Parameters<typeof skipped>) => Verdict<S>) =>
        also(by(place, "is for Windows nodes, which doctor does not judge", SEE_WINDOWS), { about });
      const yes = () => hasOther({ yes: () => say(skipped), ...otherwise(() => say(unknown)) });
      const isOther = program.is(({ kind }) => kind !== "ours").or(others.contains());
      return ifYes(isForWindows.and(isOther), yes);
    });
  },
);

export const manifestOverwritten = check<FileFacts>(
  "CSI116",
  "manifest-overwritten",
  ({ identities, copies }) => [
    identities.flatMap(({ hasRegistrar, secondKey, place }) =>
      secondKey.flatMap((line) =>
        ifYes(hasRegistrar, () =>
          warning(
            place,
            `has a key twice in one map, line ${line}: the last one counts`,
            "leave one of them, with what both have",
          ),
        ),
      ),
    ),
    copies.map(judgeCopies),
  ],
);

function judgeCopies({ place, copies, isRepeated }: ItemOf<FileFacts["copies"]>) {
  const text = words`is there ${copies.together().map((all) => all.counted("time"))}`;
  const overwrites = "the last one overwrites the others when they are applied";
  return isRepeated({
    yes: () =>
      warning(place, words`${text}: ${overwrites}`, "remove the others, or give each a name of its own"),
    no: nothing,
    unknown: ([gap]) =>
      unknown(place, `may be there twice, as ${sayOpen(gap)}: then ${overwrites}`, fillIn(gap)),
  });
}

/** Why it is not known whether two objects are one, or apart; and what to do. */
const sayOpen = (gap: Gap) => {
  if (placeholderIn(gap) !== "") return `${placeholderIn(gap)} is not filled in`;
  return gap.subject === AFFINITY ? "their affinities differ" : "the namespace of one is not written";
};
const fillIn = (gap: Gap) => {
  if (placeholderIn(gap) !== "") return RENDER_FIRST;
  return gap.subject === AFFINITY ? LEAVE_ONE : WRITE_NAMESPACE;
};

/** Two objects of one name are one when they are applied. */
export const manifestTwins = check<FileFacts>("CSI117", "manifest-twins", ({ registrars }) =>
  registrars
    .filter(({ isForWindows }) => isForWindows.not())
    .flatMap((one) =>
      one.settings.items(({ parsed }) =>
        parsed.items((its) =>
          its.paths
            .map(({ told }) => ({ ...one, told }))
            .filter(() => isRegistering(its).and(its.hasKubeletPath)),
        ),
      ),
    )
    .grouped(({ told }) => onHosts(told))
    .map(({ first, others }) => {
      const text = words`registers the driver of ${first.told}, and so does ${first.place}`;
      const twice = words`${text}: on one node they take the registration from each other`;
      return [
        others
          .filter((one) => isApart(one, first).not())
          .together()
          .map(({ first: { place, about } }) => also(warning(place, twice, LEAVE_ONE), { about })),
        others.flatMap((one) =>
          ifUnknown(isApart(one, first), ([gap]) => {
            const perhaps = words`${text}: whether they are two, and one node may have both, is not known, as ${sayOpen(gap)}`;
            return also(unknown(one.place, perhaps, fillIn(gap)), { about: one.about });
          }),
        ),
      ];
    }),
);

/** Not in one pod, nor in pods that one node may have. */
const isApart = (one: RegistrarContainer, other: RegistrarContainer): Truth =>
  isOneObject(one.identity, other.identity)
    .or(areApart(one.pool, other.pool))
    .and(one.about.object !== other.about.object);

/** Of files alone: a cluster has each object once. */
export const STREAM_CHECKS = [windowsUnjudged, manifestOverwritten, manifestTwins];
