// What the CLI uses of grpc-js, in the place of its index: unix sockets, one driver behind each.

import { ChannelCredentials } from "@grpc/grpc-js/build/src/channel-credentials";
import { setup as setUpPickFirst } from "@grpc/grpc-js/build/src/load-balancer-pick-first";
import { setup as setUpUnixSockets } from "@grpc/grpc-js/build/src/resolver-uds";

export { Client } from "@grpc/grpc-js/build/src/client";
export { ConnectivityState as connectivityState } from "@grpc/grpc-js/build/src/connectivity-state";
export { Status as status } from "@grpc/grpc-js/build/src/constants";
export { Metadata } from "@grpc/grpc-js/build/src/metadata";
export { Server } from "@grpc/grpc-js/build/src/server";
export { ServerCredentials } from "@grpc/grpc-js/build/src/server-credentials";

export const credentials = { createInsecure: () => ChannelCredentials.createInsecure() };

setUpUnixSockets();
setUpPickFirst();
