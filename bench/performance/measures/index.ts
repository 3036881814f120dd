import type { Measure } from "../measure";
import { arrivalMeasure } from "./arrival";
import { getInfoMeasure } from "./get-info";
import { memoryLimitMeasure } from "./memory-limit";
import { packageMeasure } from "./package";
import { probesMeasure } from "./probes";
import { registrationMeasure } from "./registration";
import { restingMeasure } from "./resting";
import { scaleMeasure } from "./scale";
import { startMeasure } from "./start";

/** Everything that is measured, in the order of the page. */
export const MEASURES: readonly Measure[] = [
  arrivalMeasure,
  startMeasure,
  probesMeasure,
  registrationMeasure,
  getInfoMeasure,
  restingMeasure,
  memoryLimitMeasure,
  scaleMeasure,
  packageMeasure,
];
