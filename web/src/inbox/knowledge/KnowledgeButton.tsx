import { ActionIcon } from '@mantine/core'
import { IconBook } from '@tabler/icons-react'
import { Suspense, useMemo, useState } from 'react'
import { t, withTexts } from '../../text/index.ts'
import { lazyComponent } from '../../ui/overlay/lazy.ts'
import { useShortcuts } from '../../ui/shortcuts.ts'

const KnowledgeSearch = lazyComponent(() => withTexts(() => import('./KnowledgeSearch.tsx')))

/** Button that finds an article and inserts it into the reply. */
export function KnowledgeButton({ insert }: { insert(text: string): void }) {
  const [isOpen, setOpen] = useState(false)
  const label = t.articles.title
  useShortcuts(
    t.compose.title,
    useMemo(() => [{ keys: 'mod+j', label, run: () => setOpen(true), inFields: true }], [label]),
  )
  return (
    <>
      <ActionIcon variant="subtle" color="gray" aria-label={label} title={label} onClick={() => setOpen(true)}>
        <IconBook size={18} />
      </ActionIcon>
      {isOpen && (
        <Suspense>
          <KnowledgeSearch close={() => setOpen(false)} insert={insert} />
        </Suspense>
      )}
    </>
  )
}
