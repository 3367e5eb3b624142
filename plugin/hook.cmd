@echo off
rem Hands a hook's event to the bus. Whatever goes wrong, the turn goes on: exit 0, nothing printed.
setlocal
if defined AGENT_BUS_HOME (set "bus=%AGENT_BUS_HOME%") else (set "bus=%LOCALAPPDATA%\agent-bus")
if not exist "%bus%\hub.json" exit /b 0
if not exist "%bus%\bin\agent-bus.cmd" exit /b 0
call "%bus%\bin\agent-bus.cmd" hook %1 2>nul
exit /b 0
