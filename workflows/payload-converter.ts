/**
 * JSON as Temporal has it, except that what cannot be read (broken JSON, an encoding that nobody
 * knows) becomes a value instead of an error: a signal that an operator mistyped must not stop a
 * workflow that holds money.
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

/** What unreadable input turns into; no message takes it for valid. */
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
