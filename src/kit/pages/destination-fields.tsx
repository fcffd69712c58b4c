/** The fields of a destination, in the forms of payouts, recipients and refunds. */
import { Choices, Field, type FormState } from './forms';

interface DestinationFieldsProps {
  form: FormState;
  isRequired?: boolean;
}

export function DestinationFields({ form, isRequired = true }: DestinationFieldsProps) {
  return (
    <>
      <Field
        name="value"
        label="Address, exchange account ID or email address"
        hint="Check every character. Payouts cannot be reversed."
        form={form}
        required={isRequired}
        autocomplete="off"
        maxLength={255}
      />
      <Field
        name="memo"
        label="Memo or destination tag"
        hint="Only where the network needs one, such as XRPL."
        form={form}
        autocomplete="off"
        maxLength={64}
      />
      <Choices
        name="noMemo"
        label="Without a memo"
        form={form}
        options={[['on', 'The destination has no memo or destination tag']]}
      />
    </>
  );
}
