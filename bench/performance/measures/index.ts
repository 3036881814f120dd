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

/** What has budgets, in the order of the page. */
export const DECIDING: readonly Measure[] = [
  arrivalMeasure,
  startMeasure,
  probesMeasure,
  restingMeasure,
  memoryLimitMeasure,
  scaleMeasure,
  packageMeasure,
];

/** What is measured only on demand. */
export const OTHERS: readonly Measure[] = [registrationMeasure, getInfoMeasure];
