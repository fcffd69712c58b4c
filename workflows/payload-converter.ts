/**
 * Temporal's JSON, except that unreadable input (invalid JSON, an unknown encoding) becomes a value
 * instead of an error: a mistyped signal must not stop a workflow that handles money.
 */
import {
  BinaryPayloadConverter,
  CompositePayloadConverter,
  type ConverterHint,
  JsonPayloadConverter,
  type Payload,
  type SerializationContext,
  UndefinedPayloadConverter,
} from '@temporalio/common';

/** Replaces unreadable input; it is not valid for any message. */
export const UNREADABLE = 'unreadable input';

class LenientConverter extends CompositePayloadConverter {
  override fromPayload<T>(
    payload: Payload,
    context?: SerializationContext,
    hint?: ConverterHint<T>,
  ): T {
    try {
      return super.fromPayload<T>(payload, context, hint);
    } catch {
      return UNREADABLE as T;
    }
  }
}

export const payloadConverter = new LenientConverter(
  new UndefinedPayloadConverter(),
  new BinaryPayloadConverter(),
  new JsonPayloadConverter(),
);
