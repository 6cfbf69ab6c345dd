import type { AgentTool } from '../define-tool.ts'
import { answer } from './answer.ts'
import { addNote, label, resolve, setMarketingConsent, snooze } from './change-conversation.ts'
import { handOverToPeople, takeOfferedConversation, transferToOtherAgent } from './hand-over.ts'
import { readArticle, searchKnowledge } from './knowledge.ts'
import { createLead, findLeads, getLead, updateOneLead, upsertLead } from './leads.ts'
import { listAllCannedReplies, listAllConnections, listAllLabels, listAllPeople, listTemplates } from './lists.ts'
import { listConversations, readConversation } from './read-conversations.ts'
import { addTask, cancelLater, scheduleLater } from './schedule.ts'
import { seen } from './seen.ts'
import { prepareBroadcast, startConversation, startSequence } from './start-conversation.ts'
import { uploadFile } from './upload-file.ts'
import { waitForWork } from './wait-for-work.ts'
import { whoAmI } from './who-am-i.ts'

/** All tools, in the order in which they are listed. */
export const agentTools: readonly AgentTool[] = [
  whoAmI,
  waitForWork,
  listConversations,
  readConversation,
  seen,
  answer,
  uploadFile,
  startConversation,
  addNote,
  handOverToPeople,
  transferToOtherAgent,
  takeOfferedConversation,
  snooze,
  resolve,
  label,
  setMarketingConsent,
  scheduleLater,
  cancelLater,
  addTask,
  startSequence,
  findLeads,
  getLead,
  createLead,
  upsertLead,
  updateOneLead,
  searchKnowledge,
  readArticle,
  listTemplates,
  listAllCannedReplies,
  listAllLabels,
  listAllPeople,
  listAllConnections,
  prepareBroadcast,
]
