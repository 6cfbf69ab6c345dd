import { type RefObject, Suspense, useCallback, useEffect, useLayoutEffect, useMemo, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Conversation, Reply } from '../../data/inbox/types.ts'
import { t, withTexts } from '../../text/index.ts'
import { lazyComponent, prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { SendLater } from '../follow/SendLater.tsx'
import { customerName } from '../parts/inbox-texts.ts'
import { useQuotedMessage } from '../quote/quoted-message.ts'
import { ComposeField } from './ComposeField.tsx'
import { ComposeFoot } from './ComposeFoot.tsx'
import { ComposeNotices } from './ComposeNotices.tsx'
import styles from './Composer.module.css'
import { AttachButtons, KnowledgeButton, PromptButton } from './ComposeTools.tsx'
import { consumeFocusRequest, type Mode, setDraft } from './drafts.ts'
import { type ComposerState, type Surface, useComposer } from './use-composer.ts'
import { useTakeOver } from './use-owner.ts'

const TemplateComposer = prefetchedComponent(() => withTexts(() => import('./TemplateComposer.tsx')))
const Tray = prefetchedComponent(() => withTexts(() => import('../attach/Tray.tsx')))
const DropZone = prefetchedComponent(() => withTexts(() => import('../attach/DropZone.tsx')))
const QuoteBar = prefetchedComponent(() => withTexts(() => import('../quote/QuoteBar.tsx')))
// Includes the audio writer: loaded only for recordings.
const VoiceRecording = lazyComponent(() => withTexts(() => import('../attach/VoiceRecording.tsx')))

interface ComposerProps {
  conversation: Conversation
  /** Element that accepts dropped files. */
  pane: RefObject<HTMLElement | null>
  /** Called when a message is sent, to scroll to it. */
  onSent(): void
}

/** Field for replies to the customer and notes to the team. */
export function Composer({ conversation, pane, onSent }: ComposerProps) {
  const workspaceId = useWorkspaceId()
  const composer = useComposer(conversation, onSent)
  const { draft, surface, isClosed, seen, sendOutgoing, files, fieldRef } = composer
  const attaching = useAttachmentControls(conversation.id, composer)
  const { take, mayAttach } = attaching
  const write = useModeSwitch(workspaceId, conversation.id, fieldRef)
  // Before painting: the next key must go into the field, not to a shortcut.
  useLayoutEffect(() => {
    if (surface === 'reply' && consumeFocusRequest(conversation.id)) fieldRef.current?.focus()
  }, [surface, conversation.id, fieldRef])
  const sendReply = (reply: Reply, text: string) => sendOutgoing({ reply, text, ifLastMessageId: seen.newestId() })
  const name = customerName(conversation)
  const mayChoose = !isClosed && composer.obstacle === null && conversation.channel !== 'unofficial'
  return (
    <section className={styles.composer} data-mode={draft.mode} aria-label={t.compose.title}>
      <ComposeNotices conversation={conversation} composer={composer} />
      <AttachmentControls conversation={conversation} pane={pane} composer={composer} attaching={attaching} />
      {surface === 'agent' && <AgentNotice id={conversation.id} name={name} />}
      {surface === 'template' && (
        <Suspense>
          <TemplateComposer
            conversation={conversation}
            isClosed={isClosed}
            keepsText={draft.reply.trim() !== ''}
            send={sendReply}
            onStarted={() => composer.wantTemplate(true)}
            onSent={() => composer.wantTemplate(false)}
          />
        </Suspense>
      )}
      {composer.hasField && (
        <ComposeField
          conversation={conversation}
          composer={composer}
          label={surface === 'note' ? t.compose.noteFor : t.compose.replyTo({ name })}
          placeholder={placeholderOf(surface, files)}
          paste={mayAttach ? take : undefined}
        />
      )}
      <ComposeFoot
        composer={composer}
        setMode={write}
        toggleTemplate={mayChoose ? () => composer.wantTemplate(surface !== 'template') : null}
      >
        <AttachButtons limits={files.limits} addFiles={take} record={() => attaching.setRecording(true)} />
        {mayChoose && <PromptButton send={sendReply} />}
        <KnowledgeButton insert={composer.insert} />
        <SendLater
          conversationId={conversation.id}
          content={() => ({ text: composer.value.trim() })}
          isDisabled={composer.value.trim() === '' || composer.value.length > composer.max || files.waiting > 0}
          onScheduled={() => setDraft(workspaceId, conversation.id, { reply: '' })}
        />
      </ComposeFoot>
    </section>
  )
}

/** Returns the state of attachments and voice recording. */
function useAttachmentControls(id: string, { files, surface, obstacle, fieldRef }: ComposerState) {
  const workspaceId = useWorkspaceId()
  const [isRecording, setRecording] = useState(false)
  // Stays mounted from then on, to show errors.
  const [wasRequested, setRequested] = useState(false)
  if (isRecording && !wasRequested) setRequested(true)
  const quoted = useQuotedMessage(id)
  // Choosing a message to reply to is followed by writing.
  useEffect(() => {
    if (quoted === null) return
    setDraft(workspaceId, id, { mode: 'reply' })
    fieldRef.current?.focus()
  }, [quoted, workspaceId, id, fieldRef])
  return {
    isRecording,
    wasRequested,
    setRecording,
    isAnswering: quoted !== null,
    mayAttach: surface === 'reply' && obstacle === null && files.limits !== undefined,
    take: (chosen: readonly File[]) => {
      files.take(chosen)
      fieldRef.current?.focus()
    },
  }
}

interface AttachmentControlsProps extends Pick<ComposerProps, 'conversation' | 'pane'> {
  composer: ComposerState
  attaching: ReturnType<typeof useAttachmentControls>
}

/** Attachments, voice message and quoted message. */
function AttachmentControls({ conversation, pane, composer, attaching }: AttachmentControlsProps) {
  const { isRecording, wasRequested, setRecording, isAnswering, mayAttach, take } = attaching
  const { files, surface, fieldRef } = composer
  const name = customerName(conversation)
  return (
    <>
      <Suspense>
        <DropZone pane={pane} name={name} isOpen={mayAttach} addFiles={take} />
        {files.isShown && surface !== 'note' && (
          <Tray
            conversationId={conversation.id}
            captionLength={files.captionLength}
            arrange={files.arrange}
            retry={files.retry}
          />
        )}
        {surface === 'reply' && isAnswering && <QuoteBar conversationId={conversation.id} name={name} />}
      </Suspense>
      {surface === 'reply' && wasRequested && (
        <Suspense>
          <VoiceRecording
            isRecording={isRecording}
            limits={files.limits}
            onEnded={(recorded) => {
              setRecording(false)
              if (recorded !== null) files.add(recorded)
              fieldRef.current?.focus()
            }}
          />
        </Suspense>
      )}
    </>
  )
}

function placeholderOf(surface: Surface, { lead, waiting }: ComposerState['files']): string {
  if (surface === 'note') return t.compose.notePlaceholder
  if (lead === null) return t.compose.replyPlaceholder
  return waiting === 1 ? t.attach.caption : t.attach.captionOf({ name: lead.name })
}

/** Shown instead of a field while an agent answers, with a button to take over. */
function AgentNotice({ id, name }: { id: string; name: string }) {
  const take = useTakeOver(id)
  return (
    <button type="button" className={styles.closed} onClick={take}>
      {t.compose.owner.takeOverToWrite({ name })}
    </button>
  )
}

/** Returns what switches the mode and focuses its field, also by R and N. */
function useModeSwitch(workspaceId: string, id: string, fieldRef: { current: HTMLTextAreaElement | null }) {
  const write = useCallback(
    (mode: Mode) => {
      // Renders synchronously, so that the next letter goes into the field.
      flushSync(() => setDraft(workspaceId, id, { mode }))
      fieldRef.current?.focus()
    },
    [workspaceId, id, fieldRef],
  )
  useShortcuts(
    t.compose.title,
    useMemo(
      () => [
        { keys: 'r', label: t.compose.writeReply, run: () => write('reply') },
        { keys: 'n', label: t.compose.writeNote, run: () => write('note') },
      ],
      [write],
    ),
  )
  return write
}
