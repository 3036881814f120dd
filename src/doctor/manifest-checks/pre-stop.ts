import type { ManifestFacts } from "../deployment";
import { type Check, warning } from "../finding";

export const manifestPreStop: Check<ManifestFacts> = {
  code: "CSI106",
  name: "manifest-pre-stop",
  asks: "Whether the registrar's container has a preStop hook that removes files.",
  matters:
    "Registrars remove their own socket. The images have no shell, so such a hook fails; where it does run, it may remove " +
    "the socket of the next pod's registrar, or the driver's.",
  fix: "Delete the hook.",
  verdicts: ({ deployments }) =>
    deployments.map(({ place, preStop }) =>
      preStop?.some((word) => /\brm\b/.test(word))
        ? warning(place, `has a preStop hook that removes files: ${preStop.join(" ")}`, "delete the hook")
        : undefined,
    ),
};
