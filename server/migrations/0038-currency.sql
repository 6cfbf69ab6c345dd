-- ISO 4217: what amounts of the workspace's leads are in. Null: nobody has said, and they are shown as bare numbers.
alter table workspaces
add column currency text check (currency ~ '^[A-Z]{3}$');
