import { AgentCalls } from './agent-calls.ts'

/** The interface for agents: all of its verbs. */
export class Agents extends AgentCalls {}
