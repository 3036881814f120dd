import type { Mutant } from "../mutant";
import { DOCTOR_MUTANTS } from "./doctor";
import { DRIVER_MUTANTS } from "./driver";
import { GLUE_MUTANTS } from "./glue";
import { GRPC_MUTANTS } from "./grpc";
import { NODE_WIDE_MUTANTS } from "./node-wide";
import { REGISTRATION_MUTANTS } from "./registration";
import { SERVING_MUTANTS } from "./serving";
import { SIMULATOR_MUTANTS } from "./simulator";
import { STATES_MUTANTS } from "./states";
import { UNIX_MUTANTS } from "./unix";

/** Mutants of the files that live on sockets, where a tool that mutates at random would mostly make tests wait. */
export const MUTANTS: readonly Mutant[] = [
  ...REGISTRATION_MUTANTS,
  ...STATES_MUTANTS,
  ...UNIX_MUTANTS,
  ...DRIVER_MUTANTS,
  ...NODE_WIDE_MUTANTS,
  ...GRPC_MUTANTS,
  ...GLUE_MUTANTS,
  ...SERVING_MUTANTS,
  ...DOCTOR_MUTANTS,
  ...SIMULATOR_MUTANTS,
];
