import type { Scenario } from "./scenario";
import { driverRestart } from "./scenarios/driver-restart";
import { kubeletRestart } from "./scenarios/kubelet-restart";
import { registration } from "./scenarios/registration";
import { secondRegistrar } from "./scenarios/second-registrar";
import { socketDeleted } from "./scenarios/socket-deleted";

/** Every scenario, in the order in which they are played. */
export const SCENARIOS: readonly Scenario[] = [
  registration,
  socketDeleted,
  driverRestart,
  secondRegistrar,
  kubeletRestart,
];
