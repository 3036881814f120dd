// What stops parts of the cluster comes last.
import "./suite/example-driver";
import "./suite/example-daemonset";
import "./suite/node-wide";
import "./suite/image-policy";
import "./suite/ready-to-schedule";
import "./suite/node-owner";
import "./suite/timed";
