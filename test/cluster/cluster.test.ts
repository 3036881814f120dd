// One cluster for all, as each takes half a minute; what stops parts of it comes last.
import "./suite/example-driver";
import "./suite/example-daemonset";
import "./suite/node-wide";
import "./suite/image-policy";
import "./suite/ready-to-schedule";
import "./suite/node-owner";
import "./suite/timed";
import { useCluster } from "./support/use-cluster";

useCluster();
