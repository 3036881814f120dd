// The floor of anything that speaks gRPC: Node's own HTTP/2 on a unix socket.
require("node:http2").createServer().listen(process.argv[2]);
