// SPDX-License-Identifier: UNLICENSED
// Contracts of the local chain: test tokens and awkward receivers. Never deployed anywhere else.
// How contracts.json is made from this file: README.md.
pragma solidity ^0.8.20;

import "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// A well-behaved ERC-20 token that anybody may mint.
contract TestToken is ERC20 {
    uint8 private immutable _decimals;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) ERC20(name_, symbol_) {
        _decimals = decimals_;
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}

/// Behaves as Tether's USDT on Ethereum: transfer returns nothing, the issuer can pause the token,
/// block an address and take a fee from each transfer.
contract TetherLikeToken {
    string public constant name = "Tether USD";
    string public constant symbol = "USDT";
    uint8 public constant decimals = 6;
    uint256 public totalSupply;
    uint256 public basisPointsRate;
    bool public paused;
    address public immutable owner = msg.sender;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => bool) public isBlackListed;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function mint(address to, uint256 amount) external {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function setFee(uint256 basisPoints) external {
        basisPointsRate = basisPoints;
    }

    function setPaused(bool value) external {
        paused = value;
    }

    function setBlackListed(address account, bool value) external {
        isBlackListed[account] = value;
    }

    function transfer(address to, uint256 value) external {
        _transfer(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        require(allowance[from][msg.sender] >= value, "allowance");
        allowance[from][msg.sender] -= value;
        _transfer(from, to, value);
    }

    function approve(address spender, uint256 value) external {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
    }

    function _transfer(address from, address to, uint256 value) private {
        require(!paused, "paused");
        require(!isBlackListed[from], "blacklisted");
        require(balanceOf[from] >= value, "balance");
        uint256 fee = (value * basisPointsRate) / 10000;
        balanceOf[from] -= value;
        balanceOf[to] += value - fee;
        emit Transfer(from, to, value - fee);
        if (fee > 0) {
            balanceOf[owner] += fee;
            emit Transfer(from, owner, fee);
        }
    }
}

/// transfer reports failure by returning false; the transaction succeeds and nothing moves.
contract FalseReturningToken {
    string public constant name = "False Token";
    string public constant symbol = "FALSE";
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function transfer(address, uint256) external pure returns (bool) {
        return false;
    }
}

/// Refuses coins while `refusing` is set; needs more than 21,000 gas when it takes them.
contract AwkwardReceiver {
    bool public refusing = true;
    uint256 public received;

    function setRefusing(bool value) external {
        refusing = value;
    }

    receive() external payable {
        require(!refusing, "refused");
        received += msg.value;
    }
}

/// Sends coins and tokens from within a contract call.
contract Forwarder {
    /// The coins arrive by an internal transfer: no transaction has the recipient as its `to`.
    function forward(address payable to) external payable {
        (bool sent, ) = to.call{value: msg.value}("");
        require(sent, "not sent");
    }

    /// Coins in equal parts, several to the same recipient when it is listed more than once.
    function split(address payable[] calldata recipients) external payable {
        for (uint256 i = 0; i < recipients.length; i++) {
            (bool sent, ) = recipients[i].call{value: msg.value / recipients.length}("");
            require(sent, "not sent");
        }
    }

    /// Several Transfer logs in one transaction. The forwarder holds the tokens.
    function splitToken(TestToken token, address[] calldata recipients, uint256 each) external {
        for (uint256 i = 0; i < recipients.length; i++) token.transfer(recipients[i], each);
    }
}
