import type { Beneficiary } from '../../domain/beneficiary';
import { Facts, words } from './components';

export function BeneficiaryFacts({ name, kind, institution }: Beneficiary) {
  return (
    <Facts
      rows={[
        ['Name', name],
        ['Kind', words(kind)],
        ['Institution', institution],
      ]}
    />
  );
}
