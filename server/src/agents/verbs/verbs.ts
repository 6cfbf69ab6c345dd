import type { Verb } from '../verb.ts'
import { addNote } from './add-note.ts'
import { answer } from './answer.ts'
import { label, resolve, snooze } from './change-conversation.ts'
import { handOverToPeople, handToOtherAgent, takeWhatIsOffered } from './hand-on.ts'
import { listConversations } from './list-conversations.ts'
import { listAllCannedReplies, listAllConnections, listAllLabels, listAllPeople, listTemplates } from './lists.ts'
import { readConversation } from './read-conversation.ts'
import { findLeads, getLead } from './read-leads.ts'
import { startConversation } from './start-conversation.ts'
import { uploadFile } from './upload-file.ts'
import { waitForWork } from './wait-for-work.ts'
import { whoAmI } from './who-am-i.ts'
import { createLead, updateOneLead, upsertLead } from './write-leads.ts'

/** All that an agent can do, in the order in which it is shown. */
export const verbs: readonly Verb[] = [
  whoAmI,
  waitForWork,
  listConversations,
  readConversation,
  answer,
  uploadFile,
  startConversation,
  addNote,
  handOverToPeople,
  handToOtherAgent,
  takeWhatIsOffered,
  snooze,
  resolve,
  label,
  findLeads,
  getLead,
  createLead,
  upsertLead,
  updateOneLead,
  listTemplates,
  listAllCannedReplies,
  listAllLabels,
  listAllPeople,
  listAllConnections,
]
