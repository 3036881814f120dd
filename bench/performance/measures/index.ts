import type { Measure } from "../measure";
import { arrivalMeasure } from "./arrival";
import { getInfoMeasure } from "./get-info";
import { registrationMeasure } from "./registration";
import { restingMeasure } from "./resting";
import { scaleMeasure } from "./scale";
import { startMeasure } from "./start";

/** Everything that is measured, in the order of the page. */
export const MEASURES: readonly Measure[] = [
  startMeasure,
  arrivalMeasure,
  registrationMeasure,
  getInfoMeasure,
  restingMeasure,
  scaleMeasure,
];
