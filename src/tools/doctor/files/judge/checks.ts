import { also, check, type Status, skipped, unknown, type Verdict, warning } from "../../findings/finding";
import { ifUnknown, ifYes, otherwise, type Truth, truth, words } from "../../findings/seen";
import { LEAVE_ONE, RENDER_FIRST } from "../../findings/words";
import { onHosts } from "../read/pod";
import { areApart } from "../read/pool";
import type { FileFacts, RegistrarContainer } from "../read/registrars";
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
    return registrars.flatMap(({ program, isForWindows, place, about }) => {
      const say = <S extends Status>(by: (...said: Parameters<typeof skipped>) => Verdict<S>) =>
        also(by(place, "is for Windows nodes, which doctor does not judge", SEE_WINDOWS), { about });
      const yes = () => hasOther({ yes: () => say(skipped), ...otherwise(() => say(unknown)) });
      return ifYes(isForWindows.and(program.kind !== "ours"), yes);
    });
  },
);

export const manifestOverwritten = check<FileFacts>("CSI116", "manifest-overwritten", ({ identities }) => [
  identities.flatMap(({ hasRegistrar, secondKey, place }) =>
    hasRegistrar && secondKey !== undefined
      ? warning(
          place,
          `has a key twice in one map, line ${secondKey}: the last one counts`,
          "leave one of them, with what both have",
        )
      : undefined,
  ),
  identities
    .filter(({ isNamed }) => isNamed)
    .grouped(({ key }) => key)
    .map((all) =>
      ifYes(all.others.contains().and(all.contains(({ hasRegistrar }) => hasRegistrar)), () => {
        const text = words`is there ${all.counted("time")}: the last one overwrites the others when the file is applied`;
        return all.first.isFilledIn({
          seen: () => warning(all.first.place, text, "remove the others, or give each a name of its own"),
          unread: (gap) =>
            unknown(
              all.first.place,
              words`${text}, unless ${placeholderIn(gap)} is not the same in each`,
              RENDER_FIRST,
            ),
        });
      }),
    ),
]);

/** Two objects of one name are one when they are applied. */
export const manifestTwins = check<FileFacts>("CSI117", "manifest-twins", ({ registrars }) =>
  registrars
    .filter(({ isForWindows }) => isForWindows.not())
    .flatMap((one) =>
      one.settings.items(({ mode, paths, hasKubeletPath }) =>
        (mode === "one" || mode === "node-wide") && hasKubeletPath
          ? paths.map(({ told }) => ({ ...one, told }))
          : undefined,
      ),
    )
    .grouped(({ told }) => onHosts(told))
    .map(({ first, others }) => {
      const text = `registers the driver of ${first.told}, and so does ${first.place}`;
      const twice = `${text}: on one node they take the registration from each other`;
      const perhaps = `${text}: whether on one node, a node selector or affinity that is not filled in decides`;
      return [
        others
          .filter((one) => isApart(one, first).not())
          .together()
          .map(({ first: { place, about } }) => also(warning(place, twice, LEAVE_ONE), { about })),
        others.flatMap((one) =>
          ifUnknown(isApart(one, first), () =>
            also(unknown(one.place, perhaps, RENDER_FIRST), { about: one.about }),
          ),
        ),
      ];
    }),
);

/** Not in one pod, nor in pods that one node may have. */
const isApart = (one: RegistrarContainer, other: RegistrarContainer): Truth =>
  truth(one.about.name === other.about.name)
    .or(areApart(one.pool, other.pool))
    .and(one.about.object !== other.about.object);

/** Of files alone: a cluster has each object once. */
export const STREAM_CHECKS = [windowsUnjudged, manifestOverwritten, manifestTwins];
