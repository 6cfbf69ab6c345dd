import { Menu } from '@mantine/core'
import { IconDownload, IconHistory, IconUpload } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { hasRole } from '../session/session.ts'
import { type LeadAddress, queryOf } from '../shared/lead-view/address.ts'
import { t } from '../text/index.ts'
import { DropdownMenu } from '../ui/overlay/DropdownMenu.tsx'
import type { Dropdown } from '../ui/overlay/dropdown.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

/** Import and export; an export uses the active filters. */
export default function TransferMenu({ dropdown, address }: { dropdown: Dropdown; address: LeadAddress }) {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const params = { workspaceId }
  const { sortBy: _, sortOrder: _order, sortLanguage: _language, ...filters } = queryOf(address)
  return (
    <DropdownMenu dropdown={dropdown} position="bottom-end" withInitialFocusPlaceholder={false}>
      <Menu.Item
        leftSection={<IconUpload size={16} />}
        onClick={() => void navigate({ to: '/w/$workspaceId/leads/import', params })}
      >
        {t.leads.importLeads}
      </Menu.Item>
      {hasRole(workspaceId, 'owner') && (
        <Menu.Item
          leftSection={<IconDownload size={16} />}
          onClick={() => void navigate({ to: '/w/$workspaceId/leads/export', params, search: filters })}
        >
          {t.leads.exportLeads}
        </Menu.Item>
      )}
      <Menu.Item
        leftSection={<IconHistory size={16} />}
        onClick={() => void navigate({ to: '/w/$workspaceId/leads/changes', params })}
      >
        {t.leads.bulk.title}
      </Menu.Item>
    </DropdownMenu>
  )
}
