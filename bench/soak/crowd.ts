import { connect, type Socket } from "node:net";

/** What a client does that is no kubelet. The preface is HTTP/2's, RFC 9113, 3.4. */
const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const MANNERS: readonly ((socket: Socket) => void)[] = [
  () => {}, // connects and is silent, as a standby peer does
  (socket) => socket.write(PREFACE), // begins, and goes no further
  (socket) => socket.write("GET / HTTP/1.1\r\nHost: node\r\n\r\n"),
  (socket) => socket.write(Buffer.alloc(300, 0xff)),
  (socket) => socket.destroy(),
  (socket) => socket.end(PREFACE),
];

/** Connections that stay as long as the server lets them. */
export interface Crowd {
  leave(): void;
}

/** Connects so many clients to a socket, each with other manners; resolves when each has come, or was turned away. */
export async function startCrowd(path: string, count: number): Promise<Crowd> {
  const clients = Array.from({ length: count }, (_, number) =>
    startClient(path, MANNERS[number % MANNERS.length]),
  );
  await Promise.all(clients.map(({ arrived }) => arrived));
  return {
    leave: () => {
      for (const { socket } of clients) socket.destroy();
    },
  };
}

function startClient(path: string, behave: (socket: Socket) => void = () => {}) {
  const socket = connect(path);
  const arrived = new Promise<void>((resolve) => {
    socket.once("connect", () => {
      behave(socket);
      resolve();
    });
    socket.on("error", () => resolve());
  });
  return { socket: socket.resume(), arrived };
}
