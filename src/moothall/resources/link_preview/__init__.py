"""Link previews: embeds of the pages, images and videos that messages link to (resources: message, embed types)."""
