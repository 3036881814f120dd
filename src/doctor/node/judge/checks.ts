import type { Check } from "../../findings/finding";
import type { Facts } from "../read/gather";
import { directoryKubelets, directoryWritable, registrationDirectory, socketPath } from "./directory";
import { driverHealth, driverIdentity, driverName, driverNodeInfo, driverReady } from "./driver";
import { driverSocket, kubeletPath } from "./driver-socket";
import { driversFound, registrars, waitingPods } from "./found";
import { commandLine, inotify, kubelet, selinux } from "./machine";
import { nodeReadiness } from "./node-readiness";
import {
  otherRegistrations,
  registrationCheck,
  registrationDuplicates,
  registrationEndpoint,
  registrationVersions,
} from "./registration";

/** Every question to a node. A cause comes before what follows from it: the driver, the directory, the registration. */
export const NODE_CHECKS: readonly Check<Facts>[] = [
  commandLine,
  driverSocket,
  driverIdentity,
  driverName,
  driverReady,
  driverNodeInfo,
  kubeletPath,
  registrationDirectory,
  directoryWritable,
  directoryKubelets,
  socketPath,
  kubelet,
  inotify,
  selinux,
  registrationCheck,
  registrationEndpoint,
  registrationVersions,
  registrationDuplicates,
  otherRegistrations,
  driversFound,
  nodeReadiness,
  driverHealth,
  waitingPods,
  registrars,
];
