import { manifestArguments } from "./arguments";
import { manifestReadable } from "./gaps";
import { limitChecks } from "./limits";
import { pathChecks } from "./paths";
import { podChecks } from "./pod";
import { manifestProbes } from "./probes";

export const MANIFEST_CHECKS = [manifestArguments, manifestProbes, manifestReadable].concat(
  pathChecks,
  limitChecks,
  podChecks,
);
