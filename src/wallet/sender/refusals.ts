/**
 * What a node means when it refuses to estimate a transaction. JSON-RPC has no codes for it that all
 * nodes share, so the table reads their words; the source of each is beside it. A cause says what the
 * refusal may be about. Whether it is about the recipient is for ./estimate to find out.
 */
import type { RpcRefusal } from '../chain/rpc';

export type RefusalCause =
  /** The call fails whatever it may cost: a contract refuses it. */
  | 'refused'
  /** The call needs more gas than the estimate may use. */
  | 'out_of_gas'
  /** The coins of the hot wallet do not cover it. */
  | 'hot_wallet_short'
  /** The node cannot say: a limit of the provider, missing state, a fault of its own. */
  | 'node_trouble'
  | 'unknown';

/** The first line that fits decides: a contract chooses the words behind "execution reverted". */
const WORDINGS: readonly (readonly [RegExp, RefusalCause])[] = [
  // All nodes: go-ethereum core/vm/errors.go, reth rpc-eth-types/src/error/mod.rs, anvil
  // crates/anvil/src/eth/error.rs, nethermind GasEstimator.cs ("Transaction execution fails" too).
  [/revert|transaction execution fails/i, 'refused'],
  // go-ethereum and erigon core/vm/errors.go, returned as they are by eth/gasestimator.
  [/invalid opcode|invalid jump|invalid code|write protection|max call depth/i, 'refused'],
  [/stack underflow|stack limit reached|return data out of bounds/i, 'refused'],
  // anvil error.rs, "EVM error {InstructionResult}", and reth's EvmHalt: revm's names.
  [/EVM error:? "?(?:OutOfGas|MemoryOOG|PrecompileOOG|MemoryLimitOOG)/i, 'out_of_gas'],
  [/EVM error/i, 'refused'],
  // besu RpcErrorType and ExceptionalHaltReason.
  [/invalid operation|bad jump destination|illegal state change/i, 'refused'],
  // go-ethereum eth/gasestimator, erigon and nethermind: "gas required exceeds allowance (…)"; anvil:
  // "Out of gas: gas required exceeds allowance: …"; reth: "out of gas: gas required exceeds: …".
  [/gas required exceeds|out of gas|gas exhaust/i, 'out_of_gas'],
  // nethermind GasEstimator.cs and go-ethereum core/error.go.
  [/gas spent exceeded|intrinsic gas|exceeds (?:block|transaction) gas limit/i, 'out_of_gas'],
  // go-ethereum core/error.go, anvil, reth: "insufficient funds for gas * price + value", "… for
  // transfer"; besu RpcErrorType: "Upfront cost exceeds account balance"; revm: "lack of funds".
  [/insufficient (?:funds|balance|sender balance)|lack of funds/i, 'hot_wallet_short'],
  [/upfront cost exceeds/i, 'hot_wallet_short'],
  // go-ethereum core/state ("missing trie node") and eth/api_backend ("header not found"); reth:
  // "pruned history unavailable", "execution aborted (timeout = …)"; providers' limits.
  [/missing trie node|header not found|block not found|unknown block|pruned/i, 'node_trouble'],
  [/time(?:d )?out|aborted|limit|too many|capacity|try again|unavailable/i, 'node_trouble'],
  [/internal (?:error|eth error|blocking task error)|not synced|syncing/i, 'node_trouble'],
];

/** EIP-1474 and the providers: over a limit, a fault of the node. */
const TROUBLE_CODES: readonly number[] = [-32005, -32097, -32603, 429];
/** go-ethereum internal/ethapi/errors.go: the data holds what the contract said. */
const REVERT_CODE = 3;

export function causeOf({ code, detail }: RpcRefusal): RefusalCause {
  if (code === REVERT_CODE) return 'refused';
  const known = WORDINGS.find(([words]) => words.test(detail));
  if (known !== undefined) return known[1];
  return TROUBLE_CODES.includes(code) ? 'node_trouble' : 'unknown';
}
