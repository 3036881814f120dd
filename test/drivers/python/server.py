"""A CSI driver with grpcio, as far as registration sees one. Flags and output: README.md beside this folder."""

import argparse
import json
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
from google.protobuf.message_factory import GetMessageClass

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "..", "proto"))
csi = grpc.protos("csi.proto")


def parse_flags():
    parser = argparse.ArgumentParser()
    parser.add_argument("--socket", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--node-id", default="node-1")
    parser.add_argument("--vendor-version", default="1.0")
    parser.add_argument("--manifest", action="append", default=[])
    parser.add_argument("--response-bytes", type=int, default=0)
    parser.add_argument("--error", default="")
    parser.add_argument("--delay-ms", type=int, default=0)
    parser.add_argument("--times", type=int, default=sys.maxsize)
    parser.add_argument("--headers-first", action="store_true")
    parser.add_argument("--max-connection-age-ms", type=int, default=0)
    return parser.parse_args()


def tell(**event):
    print(json.dumps(event), flush=True)


def tell_call(context):
    # Nothing that is public has the authority.
    details = context._rpc_event.call_details
    tell(
        event="called",
        method=details.method.decode().rsplit("/", 1)[-1],
        authority=details.host.decode(),
        metadata={key: str(value) for key, value in context.invocation_metadata()},
    )


def plugin_info(flags):
    manifest = dict(entry.split("=", 1) for entry in flags.manifest)
    info = csi.GetPluginInfoResponse(name=flags.name, vendor_version=flags.vendor_version, manifest=manifest)
    if flags.response_bytes:
        info.manifest["filler"] = "x" * flags.response_bytes
        info.manifest["filler"] = "x" * (2 * flags.response_bytes - info.ByteSize())
    return info


def told(answer):
    def tell_and_answer(request, context):
        tell_call(context)
        return answer(request, context)

    return tell_and_answer


def handlers_of(service, name):
    """What generated code makes, but that it drops the authority (it registers each method by itself)."""
    descriptor = csi.DESCRIPTOR.services_by_name[name]
    handlers = {
        method.name: grpc.unary_unary_rpc_method_handler(
            told(getattr(service, method.name)),
            request_deserializer=GetMessageClass(method.input_type).FromString,
            response_serializer=GetMessageClass(method.output_type).SerializeToString,
        )
        for method in descriptor.methods
        if hasattr(service, method.name)
    }
    return grpc.method_handlers_generic_handler(descriptor.full_name, handlers)


class Identity:
    def __init__(self, flags):
        self.flags = flags
        self.info = plugin_info(flags)
        self.times_left = flags.times

    def GetPluginInfo(self, request, context):
        self.times_left -= 1
        if self.flags.headers_first:
            context.send_initial_metadata(())
        if self.times_left >= 0:
            time.sleep(self.flags.delay_ms / 1000)
            if self.flags.error:
                code, text = self.flags.error.split(":", 1)
                context.abort(grpc.StatusCode[code], text)
        return self.info

    def Probe(self, request, context):
        return csi.ProbeResponse(ready=csi.BoolValue(value=True))


class Node:
    def __init__(self, flags):
        self.node_id = flags.node_id

    def NodeGetInfo(self, request, context):
        return csi.NodeGetInfoResponse(node_id=self.node_id)


def await_end():
    end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: end.set())

    def follow_stdin():
        sys.stdin.buffer.read()
        end.set()

    threading.Thread(target=follow_stdin, daemon=True).start()
    end.wait()


def main():
    flags = parse_flags()
    options = []
    if flags.max_connection_age_ms:
        options.append(("grpc.max_connection_age_ms", flags.max_connection_age_ms))
    server = grpc.server(ThreadPoolExecutor(), options=options)
    server.add_generic_rpc_handlers((handlers_of(Identity(flags), "Identity"), handlers_of(Node(flags), "Node")))
    if os.path.lexists(flags.socket):
        os.remove(flags.socket)
    server.add_insecure_port(f"unix:{flags.socket}")
    server.start()
    tell(event="started")
    await_end()
    server.stop(grace=0).wait()
    # What waits in a handler is not waited for.
    os._exit(0)


main()
