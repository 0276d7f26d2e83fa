// The page of a report, for the commands that write one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "addnorm/report/report.h"

namespace addnorm::cli {

/// What the catalogue says of every arrangement, as JSON for the page: formula, diagram, initialisation, skip gain by depth.
std::string catalogue_for_page();

/// The page of these sources, with what the catalogue says of their arrangements.
Report report_of(std::vector<ReportSource> sources);

/// The page that a command writes beside its result. It is an extra: what goes wrong is a line on stderr, and false.
bool write_beside(std::vector<ReportSource> sources, const std::filesystem::path& file);

/// Whether a page can be written there, before the work that it is to show. DataError: no; UsageError: it is no file.
void require_writable(const std::filesystem::path& file);

/// "file:///home/me/runs/lab/report.html", what is no plain letter of a link as %20 and the like.
std::string file_link(const std::filesystem::path& path);

}  // namespace addnorm::cli
