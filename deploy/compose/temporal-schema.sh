set -eu
for database in temporal temporal_visibility; do
  folder=$([ "$database" = temporal ] && echo temporal || echo visibility)
  # This creates the version table. A database with a newer version stays unchanged.
  temporal-sql-tool --db "$database" setup-schema -v 0.0
  temporal-sql-tool --db "$database" update-schema \
    -d "/etc/temporal/schema/postgresql/v12/$folder/versioned"
done
