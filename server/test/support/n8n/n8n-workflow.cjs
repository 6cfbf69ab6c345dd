// What the nodes import from n8n at run time, with n8n's behavior; pauses end at once.

const { EventEmitter } = require('node:events')

class NodeError extends Error {
  constructor(node, error, options = {}) {
    super(options.message ?? error.message ?? String(error))
    this.node = node
    this.description = options.description
    this.context = options.itemIndex === undefined ? {} : { itemIndex: options.itemIndex }
  }
}

class NodeApiError extends NodeError {
  constructor(node, error, options = {}) {
    super(node, error, options)
    this.httpCode = options.httpCode ?? null
  }
}

class NodeOperationError extends NodeError {}

const NodeConnectionTypes = { Main: 'main' }
const paused = new EventEmitter()

function sleep(ms) {
  paused.emit('pause', ms)
  return new Promise((resolve) => setImmediate(resolve))
}

// Separate names, so that modules can import them by name.
module.exports = { NodeApiError, NodeOperationError, NodeConnectionTypes, paused, sleep }
