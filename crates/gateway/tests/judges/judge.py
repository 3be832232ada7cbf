"""Reads what the gateway tells, with the readers of those it is told to, and prints what they saw as JSON."""

import json
import sys


def metrics(data):
    from prometheus_client.parser import text_string_to_metric_families

    families, samples, values = {}, 0, []
    for family in text_string_to_metric_families(data.decode()):
        families[family.name] = family.type
        samples += len(family.samples)
        values += sorted({value for sample in family.samples for value in sample.labels.values()})
    return {"families": families, "samples": samples, "values": values}


def known(message):
    """Fails for a field that the reader has no name for: a wrong number, or a wrong kind of value."""
    from google.protobuf.message import Message
    from google.protobuf.unknown_fields import UnknownFieldSet

    left = [field.field_number for field in UnknownFieldSet(message)]
    assert not left, f"{message.DESCRIPTOR.name}: unknown fields {left}"
    for field, value in message.ListFields():
        for one in [value] if isinstance(value, Message) else value if field.message_type else []:
            known(one)


def traces(data):
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest.FromString(data)
    known(request)
    return MessageToDict(request)


print(json.dumps({"metrics": metrics, "traces": traces}[sys.argv[1]](sys.stdin.buffer.read())))
