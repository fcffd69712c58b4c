/**
 * What a node means when it refuses to estimate a transaction. JSON-RPC has no codes for it that all
 * nodes share, so the table reads their words; their sources are beside them. A cause says what the
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

interface Wording {
  cause: RefusalCause;
  words: RegExp;
  /** Whose words they are, and where they are written down. */
  sources: readonly string[];
  examples: readonly string[];
}

const GETH_VM =
  'go-ethereum and erigon: core/vm/errors.go, returned as they are by eth/gasestimator';
const GETH_CORE = 'go-ethereum: core/error.go';
const GETH_ESTIMATE = 'go-ethereum: eth/gasestimator/gasestimator.go';
const ERIGON = 'erigon: rpc/jsonrpc/eth_call.go';
const NETHERMIND = 'nethermind: Nethermind.Blockchain/Tracing/GasEstimator.cs';
const RETH = 'reth: crates/rpc/rpc-eth-types/src/error/mod.rs';
const ANVIL = 'anvil: crates/anvil/src/eth/error.rs';
const BESU = 'Besu: RpcErrorType, ExceptionalHaltReason';

/** The first that fits decides: a contract chooses the words behind "execution reverted". */
export const WORDINGS: readonly Wording[] = [
  {
    cause: 'refused',
    words: /revert|transaction execution fails/i,
    sources: [GETH_VM, NETHERMIND, RETH, ANVIL, BESU],
    examples: [
      'execution reverted',
      'execution reverted: ERC20: insufficient funds, out of gas, limit reached',
      'execution reverted: Some(0x08c379a0)',
      'Transaction execution fails',
    ],
  },
  {
    cause: 'refused',
    words:
      /invalid opcode|invalid jump|invalid code|write protection|max call depth|uint64 overflow/i,
    sources: [GETH_VM],
    examples: [
      'invalid opcode: INVALID',
      'invalid jump destination',
      'invalid code: must not begin with 0xef',
      'write protection',
      'max call depth exceeded',
      'gas uint64 overflow',
    ],
  },
  {
    cause: 'refused',
    words: /stack underflow|stack limit reached|return data out of bounds/i,
    sources: [GETH_VM],
    examples: [
      'stack underflow (0 <=> 2)',
      'stack limit reached 1024 (1023)',
      'return data out of bounds',
    ],
  },
  {
    cause: 'out_of_gas',
    words: /EVM error:? "?(?:\w*OutOfGas|\w+OOG\b)/i,
    sources: [ANVIL, RETH],
    examples: ['EVM error OutOfGas', 'EVM error MemoryOOG', 'EVM error InvalidOperandOOG'],
  },
  {
    cause: 'refused',
    words: /EVM error/i,
    sources: [ANVIL, RETH],
    examples: [
      'EVM error InvalidFEOpcode',
      'EVM error: OpcodeNotFound',
      'EVM error StackUnderflow',
    ],
  },
  {
    cause: 'refused',
    words: /invalid operation|bad jump destination|illegal state change/i,
    sources: [BESU],
    examples: ['Invalid opcode: 0xfe', 'Bad jump destination', 'Illegal state change'],
  },
  {
    cause: 'out_of_gas',
    words: /gas required exceeds|out of gas|out of memory|gas exhaust/i,
    sources: [GETH_ESTIMATE, ERIGON, NETHERMIND, RETH, ANVIL],
    examples: [
      'gas required exceeds allowance (1000000)',
      'Out of gas: gas required exceeds allowance: 1000000',
      'out of gas: gas required exceeds: 1000000',
      'out of gas: gas exhausted during memory expansion: 1000000',
      'out of memory: memory limit exceeded during memory expansion',
      'Gas estimation failed due to out of gas',
    ],
  },
  {
    cause: 'out_of_gas',
    words: /gas spent exceeded|intrinsic gas|exceeds (?:block|transaction) gas limit/i,
    sources: [NETHERMIND, GETH_CORE, RETH, ANVIL],
    examples: [
      'Cannot estimate gas, gas spent exceeded transaction and block gas limit or transaction gas limit cap',
      'intrinsic gas too low',
      'intrinsic gas too high -- CallerGasLimitMoreThanBlock',
      'exceeds block gas limit',
    ],
  },
  {
    cause: 'hot_wallet_short',
    words: /insufficient (?:funds|balance|sender balance)|lack of funds/i,
    sources: [GETH_CORE, ERIGON, NETHERMIND, RETH, ANVIL],
    examples: [
      'failed with 1000000 gas: insufficient funds for gas * price + value: address 0x1f2e have 0 want 1',
      'insufficient funds for transfer',
      'insufficient balance for transfer',
      'Insufficient funds for gas * price + value',
    ],
  },
  {
    cause: 'hot_wallet_short',
    words: /upfront cost exceeds/i,
    sources: [BESU],
    examples: ['Upfront cost exceeds account balance'],
  },
  {
    cause: 'node_trouble',
    words: /missing trie node|header not found|block not found|find the block|unknown block|prun/i,
    sources: [
      'go-ethereum: core/state, eth/api_backend.go',
      ERIGON,
      'erigon: core/state (PrunedError)',
      RETH,
    ],
    examples: [
      'missing trie node 5f3a (path ) <nil>',
      'header not found',
      'block not found: latest',
      'could not find the block latest in cache or db',
      'pruned history unavailable',
      'old data not available due to pruning',
    ],
  },
  {
    cause: 'node_trouble',
    words: /time(?:d )?out|aborted|limit|too many|capacity|try again|unavailable|current state/i,
    sources: [GETH_ESTIMATE, ERIGON, RETH, ANVIL, 'limits of hosted providers'],
    examples: [
      'execution aborted (timeout = 5s)',
      'Required data unavailable',
      "can't get the current state",
      'request rate limited',
      'Too Many Requests',
    ],
  },
  {
    cause: 'node_trouble',
    words: /internal (?:error|eth error|blocking task error)|not synced|syncing/i,
    sources: [RETH, ANVIL, NETHERMIND],
    examples: ['internal blocking task error', 'Internal error: "no answer"', 'node is syncing'],
  },
];

/** EIP-1474 and the providers: over a limit, a fault of the node. */
const TROUBLE_CODES: readonly number[] = [-32005, -32097, -32603, 429];
/** go-ethereum internal/ethapi/errors.go: the data holds what the contract said. */
const REVERT_CODE = 3;

export function causeOf({ code, detail }: Pick<RpcRefusal, 'code' | 'detail'>): RefusalCause {
  if (code === REVERT_CODE) return 'refused';
  const known = WORDINGS.find(({ words }) => words.test(detail));
  if (known !== undefined) return known.cause;
  return TROUBLE_CODES.includes(code) ? 'node_trouble' : 'unknown';
}
