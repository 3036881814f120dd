import { check, unread } from "../../findings/finding";
import { isTemplate, RENDER_FIRST } from "../../findings/words";
import type { ManifestFacts } from "../read/registrars";
import { manifestArguments } from "./arguments";
import { limitChecks } from "./limits";
import { pathChecks } from "./paths";
import { podChecks } from "./pod";
import { manifestProbes } from "./probes";

export const manifestReadable = check<ManifestFacts>("CSI113", "manifest-readable", (facts) =>
  facts.unread.map(
    ({ place, why, advice = isTemplate(why) ? RENDER_FIRST : "correct it, or leave it out" }) =>
      unread(place, `cannot be judged: ${why}`, advice),
  ),
);

export const MANIFEST_CHECKS = [manifestArguments, manifestProbes, manifestReadable].concat(
  pathChecks,
  limitChecks,
  podChecks,
);
