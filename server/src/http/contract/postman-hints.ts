/** Settings of an operation in the collection, beyond its schema. Values may contain `{{variables}}`. */
export interface PostmanHints {
  body?: unknown
  /** A body that is not JSON, instead of `body`. */
  text?: { type: string; body: string }
  query?: Record<string, string>
  headers?: Record<string, string>
  /** Path parameter to value, `{ identifier: '{{lead_id}}' }`. */
  path?: Record<string, string>
  /** Variable to the path of its value in the response, `{ lead_id: 'data.id' }`. */
  saves?: Record<string, string>
  /** The same for existing resources: a value that a person has set is kept. */
  finds?: Record<string, string>
  /** Position within its folder: default 0, 100 for DELETE. */
  order?: number
}

/** By operationId. */
export type HintsByOperation = Readonly<Record<string, PostmanHints>>

// Postman's whole range is 1000 values: two runs would collide now and then.
const unique = '{{$randomInt}}{{$randomInt}}{{$randomInt}}'

export const postmanHints: HintsByOperation = {
  createLead: { saves: { lead_id: 'data.id' } },
  getLead: { path: { identifier: '{{lead_id}}' } },
  updateLead: { path: { identifier: '{{lead_id}}' }, body: { status: 'qualified', value: 1800 } },
  deleteLead: { path: { identifier: '{{lead_id}}' } },
  restoreLead: { path: { id: '{{lead_id}}' }, order: 110 },
  listConversations: {
    finds: {
      conversation_id: "conversations.find((each) => each.channel === 'waba' && each.window_expires_at !== null)?.id",
      connection_id:
        "conversations.find((each) => each.channel === 'waba' && each.window_expires_at !== null)?.connection_id",
    },
  },
  getConversation: { path: { id: '{{conversation_id}}' } },
  updateConversation: { path: { id: '{{conversation_id}}' }, body: { owner: 'agent:{{own_key_id}}' } },
  listMessages: { path: { id: '{{conversation_id}}' } },
  sendMessage: {
    body: { kind: 'text', text: 'Your order has left our warehouse.' },
    headers: { 'Idempotency-Key': '{{$guid}}' },
    path: { id: '{{conversation_id}}' },
    saves: { message_id: 'message_id' },
  },
  markConversationRead: { path: { id: '{{conversation_id}}' } },
  recordEcho: {
    body: {
      connection_id: '{{connection_id}}',
      to: '5581991234567',
      external_id: '{{$guid}}',
      kind: 'text',
      body: 'Your order left.',
    },
    order: 10,
  },
  listTemplates: { order: 20 },
  listEvents: {},
  createInvitation: {
    body: { email: '{{$guid}}@example.com', role: 'member' },
    saves: { invitation_id: 'invitation.id' },
  },
  createTeamToken: { body: { name: 'CI', role: 'member' }, saves: { token_id: 'token.id' } },
  revokeTeamToken: { path: { tokenId: '{{token_id}}' } },
  createInstallationToken: { body: { name: 'CI', role: 'member' }, saves: { instance_token_id: 'token.id' } },
  revokeInstallationToken: { path: { tokenId: '{{instance_token_id}}' } },
  listApiKeys: {
    finds: { own_key_id: "keys.find(({ shown }) => shown.slice(-4) === pm.variables.get('api_key').slice(-4))?.id" },
  },
  createApiKey: { saves: { key_id: 'key.id' } },
  changeApiKey: { body: { answersNewConversations: false, unansweredSends: 3, quietSeconds: 4 } },
  listWorkspaces: { finds: { workspace_id: 'workspaces[0].id' }, order: -1 },
  getWorkspace: { saves: { agents_stopped: 'workspace.agentsStopped' } },
  updateWorkspace: { text: { type: 'application/json', body: '{ "agentsStopped": {{agents_stopped}} }' } },
  createLabel: { body: { name: `VIP ${unique}`, color: 'violet' }, saves: { label_id: 'label.id' } },
  updateLabel: { body: { color: 'violet' } },
  createTeam: { body: { name: `Sales ${unique}` }, saves: { team_id: 'team.id' } },
  updateTeam: { body: { answerMinutes: 15 } },
  createLeadField: {
    body: { key: `cidade_${unique}`, label: `Cidade ${unique}`, type: 'text' },
    saves: { lead_field_id: 'field.id' },
  },
  updateLeadField: { path: { fieldId: '{{lead_field_id}}' }, body: { isArchived: true } },
  createCannedReply: {
    body: { shortcut: `hours${unique}`, text: 'We are open from 9 to 18.' },
    saves: { canned_reply_id: 'cannedReply.id' },
  },
  updateCannedReply: { path: { replyId: '{{canned_reply_id}}' }, body: { text: 'We are open from 9 to 17.' } },
  deleteCannedReply: { path: { replyId: '{{canned_reply_id}}' } },
  createArticle: {
    body: { kind: 'article', language: 'en', title: 'How do I return something?', body: 'Within **30 days**.' },
    saves: { article_id: 'article.id' },
  },
  getArticle: { path: { articleId: '{{article_id}}' }, order: 1 },
  getArticleVersion: { path: { articleId: '{{article_id}}', version: '1' }, order: 1 },
  updateArticle: { path: { articleId: '{{article_id}}' }, body: { version: 1, status: 'published' }, order: 2 },
  searchArticles: { query: { query: 'return' }, order: 3 },
  importArticleFiles: {
    body: {
      files: [{ path: 'hours.md', text: '# When are you open?\n\nFrom 9 to 18.' }],
      language: 'en',
      dryRun: true,
    },
  },
  deleteArticle: { path: { articleId: '{{article_id}}' } },
  importRateCards: {
    body: { csv: 'currency,market,category,price,valid_from\nXTS,Brazil,utility,0.01,2000-01-01\n' },
    saves: { rate_card_id: 'rateCards[0].id' },
  },
  updateBillingSettings: { body: {} },
  createBudget: {
    body: { scope: 'workspace', unit: 'messages', period: 'day', limit: '1000000' },
    saves: { budget_id: 'budget.id' },
  },
  updateBudget: { path: { budgetId: '{{budget_id}}' }, body: { limit: '2000000' } },
  deleteBudget: { path: { budgetId: '{{budget_id}}' } },
  createSavedFilter: {
    body: { page: 'inbox', name: 'Waiting for me', query: 'view=mine&sort=waiting', shared: true },
    saves: { saved_filter_id: 'savedFilter.id' },
  },
  updateSavedFilter: { path: { filterId: '{{saved_filter_id}}' }, body: { name: 'Mine' } },
  deleteSavedFilter: { path: { filterId: '{{saved_filter_id}}' } },
  createLeadAsMember: { saves: { member_lead_id: 'lead.id' } },
  getLeadAsMember: { path: { identifier: '{{lead_id}}' } },
  updateLeadAsMember: { path: { identifier: '{{lead_id}}' }, body: { priority: 'high' } },
  deleteLeadAsMember: { path: { identifier: '{{member_lead_id}}' } },
  setLeadLabels: { path: { identifier: '{{lead_id}}' }, body: { labelIds: [] } },
  bulkChangeLeads: { body: { ids: ['{{lead_id}}'], changes: { priority: 'high' } } },
  beginLeadBulkChange: {
    body: { ids: ['{{lead_id}}'], changes: { priority: 'low' } },
    saves: { change_id: 'bulkChange.id' },
  },
  listLeadDuplicates: { path: { identifier: '{{lead_id}}' } },
  findLeadDuplicates: { body: { phone: '+55 81 99123-4567' } },
  listLeadMerges: { path: { identifier: '{{lead_id}}' } },
  listLeadHistory: { path: { identifier: '{{lead_id}}' } },
  getLeadMarketingConsent: { path: { identifier: '{{lead_id}}' } },
  listLeadConversations: { path: { identifier: '{{lead_id}}' } },
  createLeadImport: { body: { fileName: 'fair.csv', size: 60 }, saves: { import_id: 'import.id' } },
  startLeadImport: { body: { match: 'phone', dryRun: true }, order: 3 },
  cancelLeadImport: { order: 4 },
  previewLeadImport: { order: 2 },
  listImportValues: { query: { column: 'Cidade', field: 'status' }, order: 2 },
  exportLeads: { query: { format: 'ndjson' } },
  getConversationAsMember: { path: { id: '{{conversation_id}}' } },
  updateConversationAsMember: { path: { id: '{{conversation_id}}' }, body: { status: 'open' } },
  changeConversations: {
    body: { batchId: '{{$guid}}', ids: ['{{conversation_id}}'], changes: { read: true } },
    path: { workspaceId: '{{workspace_id}}' },
  },
  undoConversationChanges: {
    body: {
      batchId: '{{$guid}}',
      changes: { read: true },
      former: [
        {
          id: '{{conversation_id}}',
          status: 'open',
          snoozedUntil: null,
          assignedTo: null,
          held: true,
          unreadCount: 0,
          added: [],
          removed: [],
        },
      ],
    },
    path: { workspaceId: '{{workspace_id}}' },
  },
  listMessagesAsMember: { path: { id: '{{conversation_id}}' } },
  sendMessageAsMember: {
    body: { kind: 'text', text: 'Your order has left our warehouse.' },
    headers: { 'Idempotency-Key': '{{$guid}}' },
    path: { workspaceId: '{{workspace_id}}', id: '{{conversation_id}}' },
  },
  getTimeline: { path: { id: '{{conversation_id}}' } },
  takeOverConversation: { path: { id: '{{conversation_id}}' } },
  getUploadLimits: { path: { id: '{{conversation_id}}' } },
  uploadMedia: {
    text: { type: 'text/plain', body: 'Open from 9 to 18.' },
    query: { kind: 'document', name: 'hours.txt', type: 'text/plain' },
    path: { id: '{{conversation_id}}' },
    saves: { upload_id: 'id' },
  },
  deleteUpload: { path: { id: '{{conversation_id}}', uploadId: '{{upload_id}}' } },
  downloadMedia: { path: { mediaId: '{{upload_id}}' }, order: 1 },
  listConversationMedia: { path: { id: '{{conversation_id}}' } },
  offerConversation: { path: { id: '{{conversation_id}}' } },
  listNotes: { path: { id: '{{conversation_id}}' } },
  getLeadTimeline: { path: { identifier: '{{lead_id}}' } },
  getLeadAttribution: { path: { identifier: '{{lead_id}}' } },
  createLeadNote: { path: { identifier: '{{lead_id}}' }, body: { text: 'Prefers mornings.' } },
  createNote: { path: { id: '{{conversation_id}}' }, body: { text: 'Asked for a quote of 20 units.' } },
  markConversationReadAsMember: { path: { id: '{{conversation_id}}' } },
  markConversationUnread: { path: { id: '{{conversation_id}}' } },
  getPresence: { path: { id: '{{conversation_id}}' } },
  createConnection: {
    body: { channel: 'unofficial', name: 'Trial' },
    saves: { trial_connection_id: 'connection.id' },
    order: 1,
  },
  updateConnection: { path: { connectionId: '{{trial_connection_id}}' }, body: { name: 'Sales' }, order: 1 },
  deleteConnection: { path: { connectionId: '{{trial_connection_id}}' } },
  createTask: { body: { title: 'Call about the quote', dueAt: '2027-03-01T12:00:00Z' }, saves: { task_id: 'task.id' } },
  updateTask: { path: { taskId: '{{task_id}}' }, order: 1, body: { done: true } },
  deleteTask: { path: { taskId: '{{task_id}}' } },
  createTemplateDraft: { body: { connectionId: '{{connection_id}}' }, saves: { template_draft_id: 'draft.id' } },
  getTemplateDraft: { path: { draftId: '{{template_draft_id}}' }, order: 1 },
  deleteTemplateDraft: { path: { draftId: '{{template_draft_id}}' } },
  createWebhook: { saves: { endpoint_id: 'endpoint.id' } },
  rotateWebhookSecret: { body: { overlapHours: 24 } },
  disableWebhook: { order: 10 },
  enableWebhook: { body: {}, order: 11 },
  testWebhook: { saves: { webhook_event_id: 'delivery.eventId' } },
  getDelivery: { path: { eventId: '{{webhook_event_id}}' }, saves: { webhook_event_at: 'delivery.occurredAt' } },
  resendDelivery: { path: { eventId: '{{webhook_event_id}}' } },
  createReplay: { body: { from: '{{webhook_event_at}}', scope: 'undelivered' } },
  listForms: { path: { workspaceId: '{{workspace_id}}' } },
  createForm: { path: { workspaceId: '{{workspace_id}}' }, saves: { form_id: 'form.id', form_slug: 'form.slug' } },
  getForm: { path: { workspaceId: '{{workspace_id}}', formId: '{{form_id}}' } },
  updateForm: { path: { workspaceId: '{{workspace_id}}', formId: '{{form_id}}' } },
  deleteForm: { path: { workspaceId: '{{workspace_id}}', formId: '{{form_id}}' } },
  listSubmissions: { path: { workspaceId: '{{workspace_id}}', formId: '{{form_id}}' } },
  countSubmissions: { path: { workspaceId: '{{workspace_id}}', formId: '{{form_id}}' } },
  previewForm: { path: { workspaceId: '{{workspace_id}}' } },
  eraseCustomer: { body: { phone: '5581991234567', dryRun: true } },
  uploadLeadImport: {
    text: { type: 'text/csv', body: 'Nome,Telefone,Cidade\nMarina Duarte,+55 81 99123-4567,Recife\n' },
    query: { offset: '0' },
    order: 1,
  },
  getReportGroups: { query: { by: 'team' } },
  listReportCounted: { query: { number: 'new' } },
  showForm: { path: { slug: '{{form_slug}}' } },
  submitForm: { path: { slug: '{{form_slug}}' } },
}

/** Operations that the collection leaves out. */
export const notInCollection: ReadonlySet<string> = new Set([
  // Called by platforms or browsers.
  ...['verifyCallback', 'receiveCallback', 'receivePartnerCallback', 'followEvents', 'reportPresence'],
  ...['addPushSubscription', 'removePushSubscription', 'downloadMediaPreview'],
  // Need a session.
  ...['signIn', 'signInWithCode', 'signInWithLink', 'signOut', 'createSignInLink', 'updateProfile', 'sayAway'],
  ...['getSignInMethods', 'sendSignInLink', 'sendTestMail', 'mailInvitation'],
  ...['listSessions', 'endMyOtherSessions', 'endSession', 'endSessionsOfUser', 'endSessionsOfMember'],
  ...['beginTwoFactor', 'disableTwoFactor', 'enableTwoFactor', 'readInvitation', 'acceptInvitation'],
  ...['listMentions', 'markMentionsRead', 'listNotices', 'markNoticesRead'],
  ...['getNoticeSettings', 'updateNoticeSettings', 'getAuthorizationRequest', 'grantAuthorizationRequest'],
  // Change more than the resources of the collection, or need a state that it cannot create.
  ...['createWorkspace', 'updateMember', 'removeMember', 'listMadeByMember', 'rotateKeys', 'rotateMasterKey'],
  ...['orderLeadFields', 'orderSavedFilters', 'restoreLeadAsMember', 'cancelLeadBulkChange', 'getErasure'],
  ...['setMarketingConsent', 'undoMarketingConsent', 'setLeadMarketingConsent', 'undoLeadMarketingConsent'],
  ...['previewLeadMerge', 'mergeLeads', 'findLeadMergedInto', 'undoLeadMerge'],
  ...['undoLeadImport', 'downloadRefusedRows', 'startConversation', 'handBackConversation', 'retryMedia'],
  ...['getConnectionHealth', 'pauseConnection', 'resumeConnection', 'acknowledgeConnection'],
  ...[
    'rotateIdentitySecret',
    'getConnectionSession',
    'pairConnection',
    'unpairConnection',
    'syncConnectionTemplates',
    'setConnectionCurrency',
  ],
  ...['saveTemplateDraft', 'submitTemplateDraft', 'uploadTemplateSample', 'deleteTemplate'],
  ...['createArticleDraft', 'getArticleDraft', 'publishArticleDraft', 'deleteArticleDraft', 'readSiteMap'],
  ...['importSitePages', 'subscribeConnection', 'requestConnectionHistory', 'saveInstructionsDraft'],
  ...['discardInstructionsDraft', 'publishInstructionsDraft', 'restoreInstructionsVersion', 'previewAgent'],
  ...['listConnectionNumbers', 'registerConnectionNumber', 'getDraft', 'approveDraft', 'rejectDraft'],
  ...['listCountedConversations', 'getAgentReasons', 'claimReview', 'submitReview', 'skipReview'],
  ...['updateReviewSettings', 'updateRouting', 'takeNextConversation'],
  ...['getFollowUps', 'scheduleMessage', 'rescheduleMessage', 'cancelScheduledMessage', 'setSilenceReminder'],
  ...['removeSilenceReminder'],
  ...['setTeamService', 'importHolidays'],
  ...['createAutomationRule', 'updateAutomationRule', 'deleteAutomationRule', 'orderAutomationRules'],
  ...['dryRunAutomationRule', 'listAutomationRuns', 'createMacro', 'replaceMacro', 'deleteMacro', 'runMacro'],
  ...['rebuildReports', 'startReportMail', 'stopReportMail'],
  ...['createSequence', 'getSequence', 'countSequence', 'updateSequence', 'deleteSequence', 'startSequence'],
  ...['listSequenceRuns', 'listSequencesOfLead', 'stopSequence'],
  ...['createScenario', 'updateScenario', 'deleteScenario', 'addStarterScenarios', 'makeScenario'],
  ...['startScenarioRun', 'getScenarioRun', 'cancelScenarioRun'],
  ...['findSignInProviders', 'listMyIdentities', 'linkIdentity', 'unlinkIdentity', 'enableUser', 'listDisabledUsers'],
  ...['saveIdentityProvider', 'deleteIdentityProvider', 'testIdentityProvider', 'forceIdentityProvider'],
  ...['createScimToken', 'deleteScimToken'],
  ...['createBroadcast', 'getBroadcast', 'replaceBroadcast', 'deleteBroadcast', 'countBroadcastAudience'],
  ...['previewBroadcast', 'testBroadcast', 'startBroadcast', 'approveBroadcast', 'pauseBroadcast', 'resumeBroadcast'],
  ...['cancelBroadcast', 'listBroadcastRecipients', 'exportBroadcast', 'updateBroadcastSettings'],
  ...['receiveLead', 'verifyLeadSource', 'updateSatisfactionSettings', 'createLeadSource', 'updateLeadSource'],
  ...['deleteLeadSource', 'listLeadSourceRequests', 'retryLeadSourceRequest', 'backFillLeadSource'],
])
