import { Button, CopyButton, Select } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useCallback } from 'react'
import { type LiveEvent, useLive } from '../../api/live.ts'
import { refetchQueries } from '../../api/refetch.ts'
import { useConnections } from '../../data/connections.ts'
import { patchConversation, setConsent } from '../../data/inbox/actions.ts'
import { detailKey } from '../../data/inbox/cache.ts'
import { useConversationsWith } from '../../data/inbox/customer.ts'
import { useCachedThread, useDetail, useInbox } from '../../data/inbox/queries.ts'
import { type Conversation, type Note, type Priority, priorities, type TimelineItem } from '../../data/inbox/types.ts'
import type { ConsentPurpose } from '../../data/lead/consents.ts'
import { leadKey, useHistory } from '../../data/leads.ts'
import { usePeople } from '../../data/people.ts'
import { hasRole } from '../../session/session.ts'
import { EraseButton } from '../../shared/EraseButton.tsx'
import { MarketingConsent } from '../../shared/MarketingConsent.tsx'
import { LeadSequences } from '../../shared/sequences/LeadSequences.tsx'
import { TaskList } from '../../shared/tasks/TaskList.tsx'
import { t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Chip } from '../../ui/Chip.tsx'
import { statusName } from '../../ui/format/lead-texts.ts'
import { dialablePhone } from '../../ui/format/phone.ts'
import { formatDateTime, formatShortTime, timeAgo } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useResponseWindow } from '../compose/response-window.ts'
import { useNow } from '../list/ConversationRows.tsx'
import AdCard from '../parts/AdCard.tsx'
import { LabelList, useConversationLabels } from '../parts/ConversationLabels.tsx'
import { GoalChip } from '../parts/GoalChip.tsx'
import { IconButton } from '../parts/IconButton.tsx'
import { customerName, lastMessageLine, phoneLabel } from '../parts/inbox-texts.ts'
import styles from './Customer.module.css'
import { Gallery } from './Gallery.tsx'
import { LeadCard, NoLead } from './LeadCard.tsx'
import { Facts, Section } from './Section.tsx'

interface CustomerPaneProps {
  conversation: Conversation
}

/** Customer pane: lead, notes, other conversations. */
export default function CustomerPane({ conversation }: CustomerPaneProps) {
  const workspaceId = useWorkspaceId()
  const { id, contact } = conversation
  const { data: detail, isError } = useDetail(workspaceId, id)
  const thread = useCachedThread(workspaceId, id)
  const newest = thread?.items.findLast(({ message }) => message?.referral != null)?.message?.referral
  const referral = newest ?? detail?.referral ?? null
  const leadId = detail?.lead?.id ?? null
  // Lead and notes are loaded together.
  const isKnown = detail !== undefined && detail.notes !== null
  const labels = useConversationLabels(conversation.labelIds)
  useLiveLead(workspaceId, id)
  return (
    <div className={styles.pane}>
      <Head conversation={conversation} />
      {labels.length > 0 && (
        <Section title={t.inbox.labels}>
          <LabelList labels={labels} />
        </Section>
      )}
      {/* Shown at once: later parts would move what is being read. */}
      <div hidden={!isKnown && !isError}>
        {leadId === null ? isKnown && <NoLead conversation={conversation} /> : <LeadCard leadId={leadId} />}
        {referral !== null && (
          <Section title={t.customer.ad}>
            <AdCard referral={referral} isTitled />
          </Section>
        )}
        {isKnown && (
          <Section title={t.tasks.title}>
            <TaskList about={leadId === null ? { conversationId: id } : { conversationId: id, leadId }} />
          </Section>
        )}
        {leadId !== null && (
          <LeadSequences
            leadId={leadId}
            section={(content) => <Section title={t.sequences.title}>{content}</Section>}
          />
        )}
        {isKnown && <Notes notes={notesOf(detail.notes ?? [], thread?.items ?? [])} />}
        <Gallery />
        {contact.phone !== null && <OtherConversations conversationId={id} phone={contact.phone} />}
        {leadId !== null && <LeadHistory leadId={leadId} />}
        <Section title={t.consent.title}>
          <ConversationConsent conversation={conversation} purpose="marketing" />
        </Section>
        <Section title={t.consent.updates.title}>
          <ConversationConsent conversation={conversation} purpose="utility" />
        </Section>
        <ConnectionFacts
          conversation={conversation}
          firstContactAt={detail?.firstContactAt ?? conversation.createdAt}
        />
        {hasRole(workspaceId, 'admin') && <ScenarioLink conversationId={id} />}
        <EraseButton name={{ conversationId: id }} />
      </div>
    </div>
  )
}

/** Leads to the editor of scenarios, with one that plays this conversation. */
function ScenarioLink({ conversationId }: { conversationId: string }) {
  const workspaceId = useWorkspaceId()
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-sm"
      renderRoot={(props) => (
        <Link to="/w/$workspaceId/scenarios" params={{ workspaceId }} search={{ from: conversationId }} {...props} />
      )}
    >
      {t.scenarios.fromConversation}
    </Button>
  )
}

interface ConversationConsentProps extends CustomerPaneProps {
  purpose: ConsentPurpose
}

function ConversationConsent({ conversation, purpose }: ConversationConsentProps) {
  const inbox = useInbox()
  const { id, marketingConsent, utilityConsent } = conversation
  return (
    <MarketingConsent
      purpose={purpose}
      consent={purpose === 'marketing' ? marketingConsent : utilityConsent}
      set={(decision) => setConsent(inbox, id, decision, purpose)}
      undo={() => void setConsent(inbox, id, 'undo', purpose)}
    />
  )
}

const leadEvents = ['lead.created', 'lead.updated', 'lead.deleted', 'lead.restored']

/** Agents and colleagues may change the lead or create one meanwhile. */
function useLiveLead(workspaceId: string, conversationId: string): void {
  const { queries } = useInbox()
  const handleEvent = useCallback(
    ({ event, payload }: LiveEvent) => {
      void refetchQueries(queries, leadKey(workspaceId, String(payload.id)))
      if (event === 'lead.updated') return
      void refetchQueries(queries, detailKey(workspaceId, conversationId))
    },
    [queries, workspaceId, conversationId],
  )
  useLive(leadEvents, handleEvent)
}

function Head({ conversation }: { conversation: Conversation }) {
  const { contact } = conversation
  const phone = phoneLabel(contact.phone)
  const name = customerName(conversation)
  return (
    <header className={styles.head}>
      <Avatar name={name} size={56} />
      <h2 className={styles.name} dir="auto">
        {name}
      </h2>
      {phone !== null && (
        <div className={styles.phone}>
          <span>{phone}</span>
          <CopyButton value={dialablePhone(contact.phone ?? '')}>
            {({ copied, copy }) => (
              <IconButton
                icon={copied ? IconCheck : IconCopy}
                iconSize={14}
                size="sm"
                label={`${t.common.copy}: ${t.customer.phone}`}
                tip={copied ? t.common.copied : t.common.copy}
                onClick={copy}
              />
            )}
          </CopyButton>
        </div>
      )}
    </header>
  )
}

function Notes({ notes }: { notes: readonly Note[] }) {
  return (
    <Section title={t.customer.notes}>
      {notes.length === 0 && <p className={styles.muted}>{t.customer.noNotes}</p>}
      <ul className={styles.list}>
        {notes.map(({ id, text, actor, createdAt }) => (
          <li key={id} className={styles.note}>
            <p dir="auto">{text}</p>
            <div className={styles.meta} title={formatDateTime(createdAt)}>
              {actor.name ?? t.inbox.teammate} · {timeAgo(createdAt)}
            </div>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** Returns the notes, newest first: those loaded with the conversation and those that the thread received since. */
function notesOf(read: readonly Note[], items: readonly TimelineItem[]): Note[] {
  const all = new Map(read.map((note) => [note.id, note]))
  for (const { note } of items) if (note !== undefined) all.set(note.id, note)
  return [...all.values()].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
}

/** Conversations of the customer with other connections. */
function OtherConversations({ conversationId, phone }: { conversationId: string; phone: string }) {
  const workspaceId = useWorkspaceId()
  const { data: conversations } = useConversationsWith(workspaceId, phone)
  if (conversations === undefined) return null
  const others = conversations.filter(({ id }) => id !== conversationId)
  return (
    <Section title={t.customer.others}>
      {others.length === 0 && <p className={styles.muted}>{t.customer.noOthers}</p>}
      <ul className={styles.list}>
        {others.map((one) => (
          <li key={one.id}>
            <Link
              className={styles.other}
              to="/w/$workspaceId/inbox/{-$conversationId}"
              params={{ workspaceId, conversationId: one.id }}
              search={true}
            >
              <span className={styles.otherLine} dir="auto">
                {lastMessageLine(one) || t.inbox.emptyThread}
              </span>
              <span className={styles.meta}>
                {[
                  one.connectionName ?? t.common.unknown,
                  t.inbox.statuses[one.status],
                  formatShortTime(one.lastMessageAt),
                ].join(' · ')}
              </span>
              {one.unreadCount > 0 && <Chip tone="accent">{t.inbox.unreadCount({ n: one.unreadCount })}</Chip>}
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** Timeline of the lead, newest first. */
function LeadHistory({ leadId }: { leadId: string }) {
  const workspaceId = useWorkspaceId()
  const { data: history } = useHistory(workspaceId, leadId)
  const people = usePeople(workspaceId)
  if (history === undefined) return null
  const nameOf = ({ type, id }: { type: string; id: string | null }): string =>
    type === 'system' ? t.customer.bySystem : (people.nameOf(id) ?? t.common.unknown)
  return (
    <Section title={t.customer.history}>
      {history.length === 0 && <p className={styles.muted}>{t.customer.noHistory}</p>}
      <ol className={styles.list}>
        {history.toReversed().map(({ id, from, to, actor, at }) => (
          <li key={id}>
            {t.customer.step({ from: statusName(from), to: statusName(to) })}
            <div className={styles.meta} title={formatDateTime(at)}>
              {nameOf(actor)} · {timeAgo(at)}
            </div>
          </li>
        ))}
      </ol>
    </Section>
  )
}

const tones = { active: 'good', paused: 'attention', unavailable: 'bad' } as const

interface ConnectionFactsProps {
  conversation: Conversation
  firstContactAt: string
}

/** Connection of the conversation, and whether it can send. */
function ConnectionFacts({ conversation, firstContactAt }: ConnectionFactsProps) {
  const workspaceId = useWorkspaceId()
  const { data: connections = [] } = useConnections(workspaceId)
  const { connectionId, connectionName, channel, windowExpiresAt, contact, profileName, goal } = conversation
  const state = connections.find(({ id }) => id === connectionId)?.state
  const now = useNow()
  const isClosed = useResponseWindow(windowExpiresAt).state === 'closed'
  const texts = t.customer
  const closed = channel === 'unofficial' ? texts.windowClosedQr : texts.windowClosed
  const windowEnd = isClosed || windowExpiresAt === null ? closed : formatDateTime(windowExpiresAt)
  return (
    <Section title={texts.connection}>
      <Facts
        facts={[
          {
            name: texts.channels[channel],
            value: (
              <>
                <Link to="/w/$workspaceId/connections/$connectionId" params={{ workspaceId, connectionId }}>
                  {connectionName ?? t.common.unknown}
                </Link>{' '}
                {state !== undefined && <Chip tone={tones[state]}>{texts.states[state]}</Chip>}
              </>
            ),
          },
          // Visitors of a website can always be answered.
          channel !== 'website' && { name: texts.window, value: windowEnd },
          { name: t.inbox.priority, value: <PrioritySelect conversation={conversation} /> },
          goal !== null && { name: t.inbox.goals.title, value: <GoalChip goal={goal} now={now} /> },
          { name: texts.firstContact, value: formatDateTime(firstContactAt) },
          // If the lead has another name.
          profileName !== null && profileName !== contact.name && { name: texts.profileName, value: profileName },
        ]}
      />
    </Section>
  )
}

/** Priority of the conversation; choosing one saves it. */
function PrioritySelect({ conversation: { id, priority } }: { conversation: Conversation }) {
  const inbox = useInbox()
  return (
    <Select
      size="xs"
      aria-label={t.inbox.priority}
      data={priorities.toReversed().map((value) => ({ value, label: t.inbox.priorities[value] }))}
      value={priority}
      placeholder={t.inbox.noPriority}
      clearable
      onChange={(value) => void patchConversation(inbox, id, { priority: value as Priority | null })}
    />
  )
}
