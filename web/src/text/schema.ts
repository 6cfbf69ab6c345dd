// Written by `npm run contract` from the English catalogues.

type Shown = string | number

/** What the texts that have arguments are called with. */
export interface Calls {
  entry: {
    joinTo: (values: { workspace: Shown }) => string
    invited: (values: { email: Shown; role: Shown }) => string
    invitedAs: (values: { name: Shown; role: Shown }) => string
    needs: { newPassword: (values: { least: Shown }) => string; shorterPassword: (values: { most: Shown }) => string; name: (values: { most: Shown }) => string }
  }
  common: {
    needAttention: (values: { n: Shown }) => string
    palette: { appearance: (values: { word: Shown }) => string; language: (values: { name: Shown }) => string }
    keys: { goTo: (values: { page: Shown }) => string }
    failure: { reference: (values: { id: Shown }) => string }
    typeToConfirm: (values: { word: Shown }) => string
    time: { ago: (values: { span: Shown }) => string; minutes: (values: { n: Shown }) => string; hours: (values: { n: Shown }) => string; days: (values: { n: Shown }) => string }
  }
  inbox: {
    unreadBadge: (values: { n: Shown }) => string
    filters: { remove: (values: { what: Shown }) => string; searchFor: (values: { term: Shown }) => string }
    saved: { delete: (values: { name: Shown }) => string; deleted: (values: { name: Shown }) => string }
    ownMessage: (values: { text: Shown }) => string
    messageBy: (values: { name: Shown; text: Shown }) => string
    byAi: (values: { name: Shown }) => string
    aiMessage: (values: { text: Shown }) => string
    byToken: (values: { name: Shown }) => string
    notices: { unsupportedKind: (values: { kind: Shown }) => string }
    unreadCount: (values: { n: number }) => string
    waiting: (values: { span: Shown }) => string
    waitingSince: (values: { moment: Shown }) => string
    snoozedUntil: (values: { moment: Shown }) => string
    answeredBy: (values: { name: Shown }) => string
    thread: (values: { name: Shown }) => string
    failures: { code: (values: { code: Shown }) => string }
    fileFailures: { code: (values: { code: Shown }) => string }
    note: (values: { name: Shown }) => string
    activities: { tookOver: (values: { who: Shown }) => string; tookOverFrom: (values: { who: Shown; from: Shown }) => string; handedOver: (values: { who: Shown }) => string; handedToAgent: (values: { who: Shown; agent: Shown }) => string; assignedToAgent: (values: { agent: Shown }) => string; repliedAndTookOver: (values: { who: Shown }) => string; repliedAndTookOverFrom: (values: { who: Shown; from: Shown }) => string; watchdog: (values: { agent: Shown }) => string; keyInvalid: (values: { agent: Shown }) => string; merged: (values: { agent: Shown }) => string; opened: (values: { who: Shown }) => string; resolved: (values: { who: Shown }) => string; closed: (values: { who: Shown }) => string; pending: (values: { who: Shown }) => string; snoozed: (values: { who: Shown; until: Shown }) => string; snoozedOpen: (values: { who: Shown }) => string; assigned: (values: { who: Shown; to: Shown }) => string; assignedSelf: (values: { who: Shown }) => string; unassigned: (values: { who: Shown }) => string; labelled: (values: { who: Shown; labels: Shown }) => string; unlabelled: (values: { who: Shown; labels: Shown }) => string; relabelled: (values: { who: Shown; added: Shown; removed: Shown }) => string }
    handover: { toTeam: (values: { who: Shown }) => string; toOne: (values: { who: Shown; to: Shown }) => string; offered: (values: { who: Shown }) => string; since: (values: { moment: Shown }) => string }
    people: { viewing: (values: { name: Shown }) => string; typing: (values: { name: Shown }) => string }
    bulk: { choose: (values: { name: Shown }) => string }
  }
  lead: {
    interpretedAs: (values: { amount: Shown }) => string
  }
  filtering: {
    is: (values: { field: Shown; values: Shown }) => string
    isNot: (values: { field: Shown; values: Shown }) => string
    contains: (values: { field: Shown; value: Shown }) => string
    from: (values: { field: Shown; value: Shown }) => string
    to: (values: { field: Shown; value: Shown }) => string
    between: (values: { field: Shown; from: Shown; to: Shown }) => string
    last: (values: { field: Shown; days: number }) => string
    empty: (values: { field: Shown }) => string
    notEmpty: (values: { field: Shown }) => string
    sortedBy: (values: { field: Shown; direction: string }) => string
  }
  leads: {
    count: (values: { n: number }) => string
    created: (values: { name: Shown }) => string
    filters: { remove: (values: { sentence: Shown }) => string; lastDays: (values: { days: Shown }) => string }
    sort: (values: { field: Shown }) => string
    viewSaved: (values: { name: Shown }) => string
    viewDeleted: (values: { name: Shown }) => string
    resize: (values: { column: Shown }) => string
    moveLeft: (values: { column: Shown }) => string
    moveRight: (values: { column: Shown }) => string
    select: (values: { name: Shown }) => string
    selected: (values: { n: Shown }) => string
    bulk: { set: (values: { field: Shown }) => string; becomes: (values: { field: Shown; value: Shown }) => string; confirm: { title: (values: { leads: Shown }) => string; action: (values: { leads: Shown }) => string }; confirmDelete: { title: (values: { leads: Shown }) => string; action: (values: { leads: Shown }) => string }; everything: (values: { n: Shown }) => string; collecting: (values: { n: Shown }) => string; running: (values: { done: Shown; all: Shown }) => string; undoing: (values: { done: Shown; all: Shown }) => string; done: (values: { leads: Shown }) => string; deleted: (values: { leads: Shown }) => string; unchanged: (values: { leads: Shown }) => string; failed: (values: { leads: Shown }) => string; undone: (values: { leads: Shown }) => string; kept: (values: { leads: Shown }) => string; undoUntil: (values: { when: Shown }) => string }
    deleted: (values: { name: Shown }) => string
    deletedMany: (values: { n: Shown }) => string
    restored: (values: { name: Shown }) => string
    panel: { label: (values: { name: Shown }) => string; removeCustom: (values: { name: Shown }) => string; change: (values: { from: Shown; to: Shown }) => string; you: (values: { text: Shown }) => string }
    edit: (values: { field: Shown; name: Shown }) => string
    cards: (values: { status: Shown }) => string
    moved: (values: { name: Shown; status: Shown }) => string
    sum: (values: { value: Shown }) => string
    keys: { deleteSelected: (values: { n: Shown }) => string }
  }
  views: {
    more: (values: { n: Shown }) => string
    menu: (values: { name: Shown }) => string
    nowShared: (values: { name: Shown }) => string
    nowPrivate: (values: { name: Shown }) => string
    labels: { changed: (values: { name: Shown }) => string }
  }
  home: {
    attention: { messages: { connection_unavailable: (values: { name: Shown }) => string; quota_reached: (values: { n: Shown }) => string; customers_waiting: (values: { n: number }) => string; key_paused: (values: { name: Shown }) => string; webhook_disabled: (values: { name: Shown }) => string; webhook_failing: (values: { name: Shown; n: Shown }) => string; acknowledgement_missing: (values: { name: Shown }) => string; key_expired: (values: { name: Shown }) => string; acknowledgement_ending: (values: { name: Shown }) => string; key_expiring: (values: { name: Shown }) => string; quota_near: (values: { n: Shown }) => string; connection_not_set_up: (values: { name: Shown }) => string } }
    figures: { inDays: (values: { n: Shown }) => string; waitingFor: (values: { minutes: Shown }) => string; median: (values: { n: number }) => string }
    charts: { slowestPeople: (values: { people: Shown }) => string; slowestAgents: (values: { agents: Shown }) => string }
    change: { counts: { more: (values: { before: Shown; days: Shown; percent: Shown }) => string; less: (values: { before: Shown; days: Shown; percent: Shown }) => string; same: (values: { days: Shown }) => string; new: (values: { days: Shown }) => string }; times: { more: (values: { percent: Shown; before: Shown; days: Shown }) => string; less: (values: { percent: Shown; before: Shown; days: Shown }) => string; same: (values: { days: Shown }) => string; new: (values: { days: Shown }) => string } }
    groups: { help: (values: { days: Shown }) => string; sampled: (values: { every: Shown }) => string }
    csv: { before: (values: { figure: Shown }) => string }
    quota: { used: (values: { used: Shown; limit: Shown }) => string; unlimited: (values: { used: Shown }) => string }
  }
  attach: {
    captionOf: (values: { name: Shown }) => string
  }
  compose: {
    replyTo: (values: { name: Shown }) => string
    tooLong: (values: { over: Shown }) => string
    closesIn: (values: { hours: number; minutes: Shown }) => string
    closesAt: (values: { time: Shown }) => string
    repliedWhileWriting: (values: { name: Shown }) => string
    owner: { agent: (values: { name: Shown }) => string; takeOverToWrite: (values: { name: Shown }) => string; alreadySending: (values: { name: Shown }) => string }
    templates: { parameter: (values: { n: Shown }) => string }
  }
  customer: {
    created: (values: { name: Shown }) => string
    step: (values: { from: Shown; to: Shown }) => string
  }
  media: {
    from: (values: { what: Shown; who: Shown }) => string
    fromUs: (values: { what: Shown }) => string
    open: (values: { what: Shown }) => string
    downloadNamed: (values: { name: Shown }) => string
    previewNamed: (values: { name: Shown }) => string
    positionOf: (values: { at: Shown; length: Shown }) => string
    speed: (values: { times: Shown }) => string
    createLeadOf: (values: { name: Shown }) => string
    reactions: (values: { list: Shown }) => string
    reactedElsewhere: (values: { emoji: Shown }) => string
    viewer: { place: (values: { n: Shown; of: Shown }) => string }
  }
  connections: {
    problemCount: (values: { n: number }) => string
    versionUntil: (values: { version: Shown; day: Shown }) => string
    platformError: (values: { code: Shown }) => string
    otherReason: (values: { code: Shown }) => string
    risk: { byYou: (values: { at: Shown }) => string; byOther: (values: { at: Shown }) => string; until: (values: { at: Shown }) => string }
    session: { tryAgainIn: (values: { s: Shown }) => string; countsFor: (values: { s: Shown }) => string; unlinkConfirm: (values: { name: Shown }) => string }
    since: (values: { at: Shown }) => string
    isPaused: (values: { name: Shown }) => string
    sendsAgain: (values: { name: Shown }) => string
    settingsOf: (values: { name: Shown }) => string
    removeConfirm: (values: { name: Shown }) => string
    removed: (values: { name: Shown }) => string
    failures: { count: (values: { n: Shown }) => string }
    facts: { seconds: (values: { n: Shown }) => string; endsIn: (values: { last4: Shown }) => string }
    templates: { read: (values: { n: number }) => string; syncedAt: (values: { when: Shown }) => string }
  }
  erasure: {
    kinds: { leads: (values: { n: number }) => string; conversations: (values: { n: number }) => string; messages: (values: { n: number }) => string; files: (values: { n: number }) => string; notes: (values: { n: number }) => string; events: (values: { n: number }) => string; importFiles: (values: { n: number }) => string }
  }
  files: {
    drop: (values: { name: Shown }) => string
    remove: (values: { name: Shown }) => string
    tryAgainWith: (values: { name: Shown }) => string
    earlier: (values: { name: Shown }) => string
    later: (values: { name: Shown }) => string
    uploading: (values: { percent: Shown }) => string
    refused: { type: (values: { name: Shown }) => string; size: (values: { name: Shown; most: Shown }) => string; empty: (values: { name: Shown }) => string; many: (values: { name: Shown; most: Shown }) => string }
    quote: { answering: (values: { name: Shown }) => string }
    react: { with: (values: { emoji: Shown }) => string; remove: (values: { emoji: Shown }) => string }
  }
  search: {
    results: { searchedBackTo: (values: { day: Shown }) => string }
  }
  fields: {
    change: (values: { name: Shown }) => string
    isArchived: (values: { name: Shown }) => string
    restore: (values: { name: Shown }) => string
    up: (values: { name: Shown }) => string
    down: (values: { name: Shown }) => string
    moved: (values: { name: Shown; place: Shown }) => string
    define: (values: { name: Shown }) => string
    invalid: (values: { type: Shown }) => string
    openLink: (values: { name: Shown }) => string
  }
  forms: {
    moveUp: (values: { label: Shown }) => string
    moveDown: (values: { label: Shown }) => string
    moved: (values: { label: Shown; place: Shown }) => string
    removeField: (values: { label: Shown }) => string
    fieldRemoved: (values: { label: Shown }) => string
    qrOf: (values: { name: Shown }) => string
    removeConfirm: (values: { name: Shown }) => string
    removed: (values: { name: Shown }) => string
  }
  keys: {
    revokeConfirm: (values: { name: Shown }) => string
    revoked: (values: { name: Shown }) => string
    valueOf: (values: { name: Shown }) => string
    editOf: (values: { name: Shown }) => string
    calls: { ms: (values: { ms: Shown }) => string }
  }
  leadPage: {
    more: (values: { fields: number }) => string
    said: (values: { who: Shown; when: Shown }) => string
    noted: (values: { who: Shown }) => string
    submitted: (values: { form: Shown }) => string
    changed: (values: { field: Shown; from: Shown; to: Shown }) => string
  }
  merge: {
    pick: (values: { name: Shown }) => string
    since: (values: { when: Shown }) => string
    same: (values: { n: number }) => string
    tooMany: (values: { most: Shown; together: Shown; n: number }) => string
    conversations: (values: { n: number }) => string
    submissions: (values: { n: number }) => string
    statusChanges: (values: { n: number }) => string
    moves: (values: { kept: Shown; what: Shown; other: Shown }) => string
    movesNothing: (values: { other: Shown }) => string
    deleted: (values: { other: Shown }) => string
    lostRef: (values: { ref: Shown }) => string
    done: (values: { other: Shown; kept: Shown }) => string
    undone: (values: { other: Shown }) => string
    left: (values: { fields: Shown }) => string
    fromName: (values: { name: Shown }) => string
    wasUndone: (values: { when: Shown }) => string
    undoneBy: (values: { who: Shown; when: Shown }) => string
    until: (values: { when: Shown }) => string
  }
  problem: {
    atLeastCharacters: (values: { n: Shown }) => string
    charactersBetween: (values: { from: Shown; to: Shown }) => string
    atMostCharacters: (values: { n: Shown }) => string
    atMostItems: (values: { n: Shown }) => string
    between: (values: { from: Shown; to: Shown }) => string
    atLeast: (values: { n: Shown }) => string
    atMost: (values: { n: Shown }) => string
    oneOf: (values: { values: Shown }) => string
    futureDays: (values: { days: Shown }) => string
    lastDays: (values: { days: Shown }) => string
    atLeastItems: (values: { n: Shown }) => string
    customFields: (values: { n: Shown }) => string
    placeholders: (values: { names: Shown }) => string
    rowCells: (values: { cells: Shown; columns: Shown }) => string
    taken: (values: { field: string }) => string
    manyFields: (values: { n: Shown }) => string
    manyForms: (values: { n: Shown }) => string
    manySlugs: (values: { n: Shown }) => string
    manyEndpoints: (values: { n: Shown }) => string
    full: (values: { n: Shown }) => string
    manyReplays: (values: { n: Shown }) => string
    manyImports: (values: { n: Shown }) => string
    manyUploads: (values: { n: Shown }) => string
    manyChanges: (values: { n: Shown }) => string
    fileColumns: (values: { n: Shown }) => string
    manyLeads: (values: { n: Shown }) => string
    mergeContacts: (values: { n: Shown }) => string
    mergeLabels: (values: { n: Shown }) => string
  }
  profile: {
    sessions: { seen: (values: { ago: Shown }) => string; endOf: (values: { device: Shown }) => string; othersEnded: (values: { count: number }) => string }
  }
  settings: {
    workspace: { quotaUpTo: (values: { ceiling: Shown }) => string; up: (values: { name: Shown }) => string; down: (values: { name: Shown }) => string; remove: (values: { name: Shown }) => string }
    members: { roleOf: (values: { name: Shown }) => string; linkTitle: (values: { email: Shown }) => string; linkOf: (values: { email: Shown }) => string; awaySince: (values: { moment: Shown }) => string; withdrawOf: (values: { email: Shown }) => string; withdrawConfirm: (values: { email: Shown }) => string; removeOf: (values: { name: Shown }) => string; removeConfirm: (values: { name: Shown }) => string; removed: (values: { name: Shown }) => string; endsTokens: (values: { names: Shown }) => string; endsInvitations: (values: { emails: Shown }) => string; used: (values: { ago: Shown }) => string; signOutOf: (values: { name: Shown }) => string; signOutConfirm: (values: { name: Shown }) => string; signedOut: (values: { name: Shown }) => string }
    labels: { change: (values: { name: Shown }) => string; deleteConfirm: (values: { name: Shown }) => string }
    replies: { change: (values: { shortcut: Shown }) => string; deleted: (values: { shortcut: Shown }) => string }
    filters: { rename: (values: { name: Shown }) => string; deleteOf: (values: { name: Shown }) => string; deleted: (values: { name: Shown }) => string }
    hours: { from: (values: { day: Shown; nth: Shown }) => string; to: (values: { day: Shown; nth: Shown }) => string; remove: (values: { day: Shown; nth: Shown }) => string; addTo: (values: { day: Shown }) => string }
    agents: { instructionsTooLong: (values: { most: Shown }) => string }
    tokens: { valueOf: (values: { name: Shown }) => string; revokeOf: (values: { name: Shown }) => string; revokeConfirm: (values: { name: Shown }) => string; revoked: (values: { name: Shown }) => string }
    retention: { daysOf: (values: { name: Shown }) => string }
    audit: { times: (values: { count: Shown }) => string; leads: (values: { n: number }) => string; left: (values: { shown: Shown }) => string }
    workspaces: { workspaceCreated: (values: { name: Shown }) => string; planOf: (values: { name: Shown }) => string }
  }
  start: {
    title: (values: { name: Shown }) => string
    value: (values: { n: Shown }) => string
    writeTo: (values: { number: Shown }) => string
    exists: (values: { name: Shown }) => string
    elsewhere: (values: { connection: Shown }) => string
  }
  notifications: {
    unread: (values: { count: number }) => string
    sentences: { mention: (values: { actor: Shown }) => string; assigned: (values: { actor: Shown }) => string; handover: (values: { actor: Shown }) => string; waiting: (values: { count: number }) => string; connection: (values: { connection: Shown; reason: Shown }) => string; connectionLost: (values: { connection: Shown }) => string }
    settings: { of: (values: { kind: Shown; way: Shown }) => string }
  }
  transfer: {
    upload: { again: (values: { p: Shown }) => string; other: (values: { name: Shown }) => string; sameFile: (values: { name: Shown }) => string; sent: (values: { done: Shown; all: Shown }) => string }
    progress: { at: (values: { percent: Shown; rate: Shown }) => string; quota: (values: { at: Shown }) => string }
    report: { row: (values: { n: Shown }) => string }
    values: { unknown: (values: { n: number }) => string; of: (values: { column: Shown }) => string; meaningOf: (values: { text: Shown }) => string }
    undo: { until: (values: { when: Shown }) => string; confirm: (values: { n: number }) => string; undoing: (values: { done: Shown; all: Shown }) => string; undone: (values: { n: number }) => string; kept: (values: { n: number }) => string }
    mapping: { targetOf: (values: { column: Shown }) => string; customField: (values: { name: Shown }) => string; nameOf: (values: { column: Shown }) => string; splitExample: (values: { name: Shown; first: Shown; last: Shown }) => string; amountsHelp: (values: { example: Shown }) => string }
    export: { count: (values: { n: number }) => string; search: (values: { term: Shown }) => string }
  }
  triage: {
    pick: { createLabel: (values: { name: Shown }) => string; labelCreated: (values: { name: Shown }) => string }
    bulk: { chosen: (values: { n: number }) => string; all: (values: { shown: Shown }) => string; most: (values: { shown: Shown }) => string; working: (values: { done: Shown; of: Shown }) => string; changed: (values: { n: number }) => string; interrupted: (values: { shown: Shown; of: Shown }) => string; undone: (values: { n: number }) => string; left: (values: { n: number }) => string }
    mentions: { unread: (values: { n: number }) => string; by: (values: { who: Shown; customer: Shown }) => string }
  }
  webhooks: {
    failingCount: (values: { count: number }) => string
    headersKept: (values: { names: Shown }) => string
    headersReenter: (values: { names: Shown }) => string
    headerRemove: (values: { name: Shown }) => string
    stateDescriptions: { fine: (values: { ago: Shown }) => string; failing: (values: { failures: number; since: Shown }) => string; paused: (values: { until: Shown }) => string; off: (values: { since: Shown }) => string; gone: (values: { since: Shown }) => string; stopped: (values: { since: Shown }) => string }
    pendingCount: (values: { count: Shown }) => string
    nextTry: (values: { at: Shown }) => string
    secretValid: (values: { count: number }) => string
    secretUntil: (values: { until: Shown }) => string
    secretOf: (values: { name: Shown }) => string
    removeConfirm: (values: { name: Shown }) => string
    removed: (values: { name: Shown }) => string
    replayOpen: (values: { count: Shown }) => string
    attemptsCount: (values: { count: number }) => string
    attempt: (values: { number: Shown }) => string
    response: (values: { status: Shown }) => string
    ms: (values: { ms: Shown }) => string
    seconds: (values: { seconds: Shown }) => string
    minutes: (values: { minutes: Shown }) => string
    hours: (values: { hours: Shown }) => string
    sampled: (values: { every: Shown }) => string
  }
}
