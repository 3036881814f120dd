// The floor: the least that a Node process can do to accept connections on a unix socket.
require("node:net").createServer().listen(process.argv[2]);
