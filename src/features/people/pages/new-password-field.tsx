import { Field, type FormState } from '../../../kit/pages/forms';

interface NewPasswordFieldProps {
  form: FormState;
  label?: string;
  hint?: string;
}

export function NewPasswordField({
  form,
  label = 'New password',
  hint = '12 characters or more.',
}: NewPasswordFieldProps) {
  return (
    <Field
      name="password"
      type="password"
      label={label}
      hint={hint}
      form={form}
      required
      autocomplete="new-password"
      maxLength={200}
    />
  );
}
